//! Why a write is refused.

use std::sync::Arc;

use super::Object;

/// The maximum size of a request to etcd in bytes (`--max-request-bytes`).
const REQUEST_LIMIT: usize = 3 << 19;

/// The maximum size of a message of etcd's client in bytes.
const MESSAGE_LIMIT: usize = 2 << 20;

/// What a request holds beside the object: the key above all.
const FRAME: usize = 128;

/// A write was refused.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The precondition failed: the newest state, if there is one.
    Outrun(Option<Arc<Object>>),
    /// Etcd would refuse the object: its message.
    TooLarge(String),
}

/// Whether etcd would accept an object, with room for so many more bytes.
pub(super) fn admit(
    object: &Object,
    previous: Option<&Object>,
    room: usize,
) -> Result<(), Refused> {
    if object.size().saturating_sub(previous.map_or(0, Object::size)) > room {
        return Err(Refused::TooLarge("etcdserver: mvcc: database space exceeded".to_owned()));
    }
    let size = object.text().len() + FRAME;
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
