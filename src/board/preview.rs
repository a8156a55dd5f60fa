//! What a reconcile of a parent would do now, asked for by somebody who looks. Values only.

use std::{collections::BTreeMap, fmt};

use super::Answer;
use crate::{
    object::{Object, ObjectKey},
    plan::{ChildId, Plan},
};

/// What a reconcile would do. `Debug` shows no content.
#[derive(Clone)]
pub struct Preview {
    /// The steps that it would take.
    pub plan: Plan,
    /// The children as they were when the plan was made, those that it would change or delete.
    pub live: BTreeMap<ChildId, Object>,
    /// Those that it would create but for somebody else's object, and what is said of that.
    pub foreign: BTreeMap<ChildId, String>,
    /// Those that it would write but for fields that others hold, and what is said of these.
    pub contested: BTreeMap<ChildId, String>,
}

/// The question on its way.
#[derive(Debug)]
pub struct PreviewRequest {
    /// Who is asked.
    pub operator: String,
    /// About which parent.
    pub parent: ObjectKey,
    /// The way back.
    pub answer: Answer<Preview>,
}

impl fmt::Debug for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Preview({} steps)", self.plan.steps.len())
    }
}
