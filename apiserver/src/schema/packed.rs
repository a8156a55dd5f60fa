//! The schema of a custom type as its author wrote it, compressed: as text it takes ten times as much, and read into a
//! [`Schema`](super::Schema) thirty times. Most types have no objects, and theirs is never read.

use std::{
    fmt,
    io::{Read, Write},
    ops::Deref,
    sync::{Arc, OnceLock},
};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use serde_json::Value;

use super::Schema;

/// An `openAPIV3Schema`.
pub(crate) struct PackedSchema {
    compressed: Box<[u8]>,
}

/// A schema that is read when it is first needed.
#[derive(Debug)]
pub(crate) struct LazySchema {
    packed: Option<Arc<PackedSchema>>,
    read: OnceLock<Arc<Schema>>,
}

impl PackedSchema {
    pub(crate) fn new(open_api: &Value) -> Self {
        let text = open_api.to_string();
        let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
        let written = compressed.write_all(text.as_bytes()).and_then(|()| compressed.finish());
        Self { compressed: written.expect("memory can be written").into() }
    }

    /// What the author wrote.
    pub(crate) fn open_api(&self) -> Value {
        let mut text = Vec::new();
        let read = GzDecoder::new(&*self.compressed).read_to_end(&mut text);
        debug_assert!(read.is_ok(), "it was compressed here");
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

impl LazySchema {
    pub(crate) fn of(packed: &Arc<PackedSchema>) -> Self {
        Self { packed: Some(Arc::clone(packed)), read: OnceLock::new() }
    }

    /// The schema, which is kept from now on.
    pub(crate) fn schema(&self) -> &Arc<Schema> {
        self.read.get_or_init(|| {
            let open_api = self.packed.as_ref().map(|it| it.open_api());
            open_api.map(|it| Schema::from_open_api(&it)).unwrap_or_default().into()
        })
    }
}

impl From<Arc<Schema>> for LazySchema {
    fn from(schema: Arc<Schema>) -> Self {
        Self { packed: None, read: OnceLock::from(schema) }
    }
}

impl Deref for LazySchema {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        self.schema()
    }
}

impl fmt::Debug for PackedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackedSchema({} bytes)", self.compressed.len())
    }
}
