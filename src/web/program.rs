//! What the program around the supervisor tells of itself, and what it lends to the web endpoint.

use std::{fmt, sync::Arc};

use super::LogLevel;

/// What the program tells and lends. Cheap to clone.
#[derive(Clone, Default)]
pub struct Program {
    /// How its logs are changed, if they can be.
    pub log_level: Option<Arc<dyn LogLevel>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { log_level } = self;
        f.debug_struct("Program").field("log_level", &log_level.is_some()).finish()
    }
}
