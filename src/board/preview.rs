//! What a reconcile of a parent would do now. Values only.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use super::Responder;
use crate::{
    object::{Object, ObjectKey},
    plan::{ChildId, Plan},
};

/// What a reconcile would do. `Debug` shows no content.
#[derive(Clone)]
pub struct Preview {
    /// The planned steps.
    pub plan: Plan,
    /// The children that it would change or delete, as they were when the plan was made.
    pub live: BTreeMap<ChildId, Object>,
    /// The children that already exist and are not owned, each with a message.
    pub(crate) foreign: BTreeMap<ChildId, String>,
    /// The children whose fields are owned by other field managers, each with a message.
    pub(crate) contested: BTreeMap<ChildId, String>,
    /// The merge patch with the finalizers and the status fields that the parent would get.
    pub(crate) parent: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct PreviewRequest {
    pub(crate) operator: String,
    pub(crate) parent: ObjectKey,
    /// The version of the parent to plan for, if it is not the cached one.
    pub(crate) instead: Option<Object>,
    pub(crate) answer: Responder<Preview>,
}

impl fmt::Debug for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Preview({} steps)", self.plan.steps.len())
    }
}
