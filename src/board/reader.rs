//! A look at what changes too often to be written on the board, or too rarely to be polled.

use std::{fmt, sync::Arc};

/// Looks at something when it is asked. It must not call the board.
#[derive(Clone)]
pub struct Reader<T>(Arc<dyn Fn() -> T + Send + Sync>);

impl<T> Reader<T> {
    /// What looks at it.
    pub fn new(look: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(super) fn look(&self) -> T {
        (self.0)()
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}
