//! In place of `mcp` without the feature `mcp`: no path.

use super::endpoint::Endpoint;

pub(super) static ENDPOINTS: &[Endpoint] = &[];
