//! What a parent's status says of its single children, where that is asked for. How a child stands
//! is found out by the reconcile; here is only what it is called.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OperatorConfig;

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
    /// How it stands.
    pub state: ChildState,
    /// Why it is not `Synced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How a child stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ChildState {
    /// It is as desired.
    Synced,
    /// It is yet to be created, changed or deleted.
    Pending,
    /// It differs and is left so: its strategy or conflict policy says so, the parent is paused, or
    /// its deletion waits for a person.
    Held,
    /// It is not written because of somebody else: the object is theirs, or fields of it.
    Conflict,
    /// Its last write or deletion failed.
    Failed,
    /// It is being deleted.
    Terminating,
}

impl OperatorConfig {
    /// Lists in `status.children` how every child stands, as a [`ChildStatus`] each.
    ///
    /// The list is part of the one write of the status, and a child that is repaired is no reason
    /// for one. Of more than 100 children those that are not `Synced` are listed first, and
    /// `status.childrenOmitted` is the number of the others. A reconcile that did not get as far as to
    /// know the children (the handler failed, the parent is being deleted) leaves the list as it is.
    ///
    /// Both fields are the framework's then: what a handler returns under these names is not
    /// written, which is said once unless it only returns what it read. Where the CRD does not
    /// declare `status.children` as a list it is not sent, which is said once too. A status that others
    /// write too has no place for it: see [`sharing_status`](Self::sharing_status).
    #[must_use]
    pub fn with_child_status(mut self) -> Self {
        self.child_status = true;
        self
    }
}
