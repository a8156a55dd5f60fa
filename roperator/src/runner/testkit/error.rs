//! What goes wrong in a test.

use std::fmt;

use crate::{k8s_types::K8sType, resource::ObjectId};

/// A test cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestKitError(pub(super) String);

/// There is no such object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingResource {
    /// Its type.
    pub k8s_type: K8sType,
    /// Its namespace and name.
    pub id: ObjectId,
}

/// An operator that never has nothing left to do. Not returned, as in roperator: when the time is over a call
/// returns what it has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconciliationIncompleteError(());

impl fmt::Display for TestKitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for MissingResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no object {} of {}", self.id, self.k8s_type)
    }
}

impl fmt::Display for ReconciliationIncompleteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operator always has something left to do")
    }
}

impl std::error::Error for TestKitError {}

impl std::error::Error for MissingResource {}

impl std::error::Error for ReconciliationIncompleteError {}
