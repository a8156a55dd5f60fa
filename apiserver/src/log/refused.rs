//! Why a write is not taken.

use std::sync::Arc;

use super::Object;

/// What etcd takes as one request, in bytes (`--max-request-bytes`).
const REQUEST_LIMIT: usize = 3 << 19;

/// What etcd's client sends as one message, in bytes.
const MESSAGE_LIMIT: usize = 2 << 20;

/// What a request holds beside the object: the key above all.
const FRAME: usize = 128;

/// A write was not taken.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The belief of the writer was wrong: the newest state, if there is one.
    Outrun(Option<Arc<Object>>),
    /// Etcd would not take the object: what it says then.
    TooLarge(String),
}

/// Whether etcd would take an object.
pub(super) fn admit(object: &Object) -> Result<(), Refused> {
    let size = object.json().len() + FRAME;
    if size <= REQUEST_LIMIT {
        return Ok(());
    }
    Err(Refused::TooLarge(if size <= MESSAGE_LIMIT {
        "etcdserver: request is too large".to_owned()
    } else {
        format!(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max \
             ({size} vs. {MESSAGE_LIMIT})"
        )
    }))
}
