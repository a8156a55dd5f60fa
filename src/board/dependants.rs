//! What Kubernetes makes of children, down to Pods and claims, read on demand. Values only.

use serde_json::Value;

use super::Responder;
use crate::{
    object::{FieldOwner, Object, ObjectEvent, Uid, claims_of, pod_selector},
    plan::ChildId,
};

/// A child whose dependants are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) id: ChildId,
    pub(crate) uid: Uid,
    /// The label selector of its Pods; `None` of a child that has none.
    pub(crate) selector: Option<String>,
    /// The claims that it names itself, as a Pod does.
    pub(crate) claims: Vec<String>,
}

/// Which dependants are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Those that are not well, with the Warnings about them: the reason why a child is not ready.
    Reasons,
    /// All of them, without Warnings: the map of a parent.
    All,
}

/// The dependants of a child.
#[derive(Debug, Clone)]
pub(crate) struct Dependants {
    pub(crate) of: ChildId,
    /// Pods: metadata, the names of their claims, and status.
    pub(crate) pods: Vec<Value>,
    /// Claims: metadata, the name of the class, and status.
    pub(crate) claims: Vec<Value>,
    /// The Warnings about the child, the Pods and the claims, newest first.
    pub(crate) warnings: Vec<ObjectEvent>,
    /// What could not be read, and why.
    pub(crate) errors: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct DependantsRequest {
    pub(crate) operator: String,
    /// The most important first.
    pub(crate) of: Vec<Workload>,
    pub(crate) depth: Depth,
    pub(crate) answer: Responder<Vec<Dependants>>,
}

/// Who set which field of an object, as the API server has it now.
#[derive(Debug)]
pub(crate) struct OwnersRequest {
    pub(crate) operator: String,
    pub(crate) of: ChildId,
    pub(crate) answer: Responder<Owners>,
}

/// The answer, or why there is none.
pub(crate) type Owners = Result<Vec<FieldOwner>, String>;

impl Workload {
    pub(crate) fn of(object: &Object) -> Self {
        let claims = match object.ty().kind() {
            "Pod" => claims_of(&object.to_value()),
            _ => Vec::new(),
        };
        Self {
            id: ChildId::of(object),
            uid: object.uid().clone(),
            selector: pod_selector(object),
            claims,
        }
    }
}
