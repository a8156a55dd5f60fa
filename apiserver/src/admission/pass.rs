//! One way of a write through one half of the chain.

use serde_json::Value;

use super::{
    asked::Asked, attributes::Attributes, chain::Chain, kind::Operation, warnings::Warnings,
    webhook::Refusal,
};
use crate::{callout::Caller, cluster::Cluster, status::StatusError};

/// Reads, prunes and fills in an object after it was patched.
pub(crate) type Refine<'a> = &'a dyn Fn(&mut Value, Unknown) -> Result<(), StatusError>;

/// What happens to fields that a patch made and that a built-in type does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    Dropped,
    Refused,
}

/// One way through one half of the chain.
pub(super) struct Pass<'a> {
    pub(super) asked: &'a Asked,
    pub(super) chain: &'a Chain,
    /// Absent where nothing is to be called.
    pub(super) caller: Option<&'a Caller>,
    pub(super) warnings: &'a Warnings,
    pub(super) cluster: &'a Cluster,
    pub(super) operation: Operation,
    pub(super) old: Option<&'a Value>,
}

impl<'a> Pass<'a> {
    /// Who calls webhooks.
    pub(super) fn caller(&self) -> Result<&'a Caller, Refusal> {
        self.caller.ok_or_else(|| Refusal::Failed("this write calls no webhooks".to_owned()))
    }

    /// The write as it is now.
    pub(super) fn attributes<'b>(&'b self, object: Option<&'b Value>) -> Attributes<'b>
    where
        'a: 'b,
    {
        Attributes { asked: self.asked, operation: self.operation, object, old: self.old }
    }
}
