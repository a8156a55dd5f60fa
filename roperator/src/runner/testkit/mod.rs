//! Tests of an operator on a cluster: that of the kubeconfig, or an embedded one of Operetta that is served.
//!
//! The operator runs all the time, not only within calls as in roperator. Each call that reads or writes an
//! object first waits until the operator has nothing left to do, so that a test finds what it would find there.

mod assertions;
mod cluster;
mod diff;
mod error;
mod kit;
mod objects;
mod records;

use serde::Serialize;
use serde_json::Value;

pub use diff::Diff;
pub use error::{MissingResource, ReconciliationIncompleteError, TestKitError};
pub use kit::TestKit;
pub use records::HandlerErrors;

/// What can be written as JSON.
pub trait ToJson {
    /// The JSON.
    fn to_json(&self) -> Value;

    /// The JSON.
    fn into_json(self) -> Value;
}

impl<T: Serialize + Clone> ToJson for T {
    fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a test has values that can be written as JSON")
    }

    fn into_json(self) -> Value {
        self.to_json()
    }
}
