//! Values that are read on demand instead of being written on the board.

use std::{fmt, sync::Arc};

/// Reads a value on demand. It must not call the board.
#[derive(Clone)]
pub(crate) struct Reader<T>(Arc<dyn Fn() -> T + Send + Sync>);

impl<T> Reader<T> {
    pub(crate) fn new(read: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(super) fn read(&self) -> T {
        (self.0)()
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}
