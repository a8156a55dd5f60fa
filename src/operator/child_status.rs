//! The list of children in a parent's status, where it is configured. A reconcile determines the
//! states; here are only their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OperatorConfig, Role};

/// An entry of `status.children`, see [`OperatorConfig::with_child_status`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChildStatus {
    /// The child's `apiVersion`.
    pub api_version: String,
    /// The child's `kind`.
    pub kind: String,
    /// Its namespace; `None` for a cluster-scoped child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ChildState,
    /// Why it is not `Synced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The state of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ChildState {
    /// It is up to date.
    Synced,
    /// It is yet to be created, changed or deleted.
    Pending,
    /// It differs and is not modified: its strategy or conflict policy prevents it, the parent is
    /// paused, or its deletion waits for an administrator.
    Held,
    /// It is not written: another owner has the object, or other field managers own fields of it.
    Conflict,
    /// Its last write or deletion failed.
    Failed,
    /// It is being deleted.
    Terminating,
}

impl<R: Role> OperatorConfig<R> {
    /// Lists in `status.children` the state of every child, as a [`ChildStatus`] each.
    ///
    /// The list is part of the one write of the status, and a child that is repaired causes no
    /// write of its own. Of more than 100 children those that are not `Synced` are listed first,
    /// and `status.childrenOmitted` is the number of the others. A reconcile that fails before it
    /// knows the children (the handler failed, the parent is being deleted) leaves the list as it
    /// is.
    ///
    /// Both fields then belong to the framework: values that a handler returns under these names
    /// are not written, and a Warning Event reports that once, unless the handler only returns what
    /// it read. A list that the CRD does not declare as `status.children` is not sent, which is
    /// reported once too. A status that others write too cannot have the list: see
    /// [`sharing_status`](Self::sharing_status).
    #[must_use]
    pub fn with_child_status(mut self) -> Self {
        self.child_status = true;
        self
    }
}
