//! What Kubernetes makes of children, down to Pods and claims, read on demand. Values only.

use serde_json::Value;

use super::Responder;
use crate::{
    object::{ObjectEvent, Uid},
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

/// The dependants of a child that are not well.
#[derive(Debug, Clone)]
pub(crate) struct Dependants {
    pub(crate) of: ChildId,
    /// Pods: metadata, the names of their claims, and status.
    pub(crate) pods: Vec<Value>,
    /// Claims that are not bound: metadata, the name of the class, and status.
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
    pub(crate) answer: Responder<Vec<Dependants>>,
}
