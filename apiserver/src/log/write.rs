//! One write, before it is applied. A value.

use std::sync::Arc;

use serde_json::Value;

use super::ObjectKey;
use crate::group_resource::GroupResource;

/// The precondition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// There is no object.
    Absent,
    /// The object has this version.
    Version(u64),
}

/// One write.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    /// The resource.
    pub resource: &'a Arc<GroupResource>,
    /// The object's name.
    pub key: ObjectKey,
    /// Compared before the write.
    pub expect: Expect,
    /// Whether the write deletes the object; `value` is then its last state.
    pub delete: bool,
    /// The object; its `resourceVersion` is set by the log.
    pub value: Value,
    /// See [`Object::epoch`](super::Object::epoch).
    pub epoch: u64,
}
