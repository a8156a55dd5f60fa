//! What a webhook that converts is asked, and how it is trusted.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

/// The versions of a review that the real server speaks.
pub(super) const KNOWN: [&str; 2] = ["v1", "v1beta1"];

/// Whether certificates can be read; none are fine.
pub(super) fn is_bundle(bundle: &Value) -> bool {
    let bytes = BASE64_STANDARD.decode(bundle.as_str().unwrap_or_default()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    bytes.is_empty() || text.contains("-----BEGIN CERTIFICATE-----")
}

/// Whether the real server speaks one of these versions, or there are none.
pub(super) fn are_known_or_none(versions: &Value) -> bool {
    let mut list = versions.as_array().into_iter().flatten().peekable();
    list.peek().is_none() || list.any(|it| it.as_str().is_some_and(|it| KNOWN.contains(&it)))
}
