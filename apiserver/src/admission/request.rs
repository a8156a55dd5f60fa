//! A request on its way through admission, with the objects that it writes.

use std::sync::Arc;

use serde_json::Value;

use super::{
    asked::Asked,
    chain::Chain,
    kind::Operation,
    mutating,
    pass::{Pass, Refine},
    validating,
    warnings::Warnings,
};
use crate::{callout::Caller, cluster::Cluster, status::StatusError};

/// Goes through the chain with the objects that a request writes.
#[derive(Debug)]
pub(crate) struct Admission {
    asked: Asked,
    chain: Arc<Chain>,
    /// Absent where nothing is to be called.
    caller: Option<Caller>,
    warnings: Warnings,
}

impl Admission {
    /// A request at the beginning of the chain.
    pub(crate) fn new(asked: Asked, chain: Arc<Chain>, caller: Option<Caller>) -> Self {
        Self { asked, chain, caller, warnings: Warnings::default() }
    }

    /// Whether there are no configurations.
    pub(crate) fn is_idle(&self) -> bool {
        self.chain.is_empty()
    }

    /// Changes an object that is to be written, or refuses it.
    pub(crate) fn mutate(
        &self,
        cluster: &Cluster,
        operation: Operation,
        object: &mut Value,
        old: Option<&Value>,
        refine: Refine<'_>,
    ) -> Result<(), StatusError> {
        if self.asked.is_exempt() {
            return Ok(());
        }
        let mut changed = Some(object.take());
        let outcome = mutating::run(&self.pass(cluster, operation, old), &mut changed, refine);
        *object = changed.unwrap_or_default();
        outcome
    }

    /// Refuses what must not be written.
    pub(crate) fn validate(
        &self,
        cluster: &Cluster,
        operation: Operation,
        object: &Value,
        old: Option<&Value>,
    ) -> Result<(), StatusError> {
        if self.asked.is_exempt() {
            return Ok(());
        }
        validating::run(&self.pass(cluster, operation, old), Some(object))
    }

    /// Refuses what must not be deleted.
    pub(crate) fn delete(&self, cluster: &Cluster, old: &Value) -> Result<(), StatusError> {
        if self.asked.is_exempt() {
            return Ok(());
        }
        let pass = self.pass(cluster, Operation::Delete, Some(old));
        mutating::run(&pass, &mut None, &|_, _| Ok(()))?;
        validating::run(&pass, None)
    }

    /// The warnings since this was asked last.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    fn pass<'a>(
        &'a self,
        cluster: &'a Cluster,
        operation: Operation,
        old: Option<&'a Value>,
    ) -> Pass<'a> {
        Pass {
            asked: &self.asked,
            chain: &self.chain,
            caller: self.caller.as_ref(),
            warnings: &self.warnings,
            cluster,
            operation,
            old,
        }
    }
}
