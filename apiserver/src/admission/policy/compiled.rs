//! The two kinds of policies, ready to be evaluated.

use serde_json::Value;

use super::frame::{Frame, list, source, text};
use crate::cel::{Names, Program, Wanted};

/// A `ValidatingAdmissionPolicy` with its bindings.
#[derive(Debug)]
pub(in crate::admission) struct ValidatingPolicy {
    pub frame: Frame,
    pub validations: Vec<Validation>,
    pub annotations: Vec<Program>,
}

/// One rule of a policy.
#[derive(Debug)]
pub(in crate::admission) struct Validation {
    pub rule: Program,
    pub message: String,
    pub message_rule: Option<Program>,
    pub reason: String,
}

/// A `MutatingAdmissionPolicy` with its bindings.
#[derive(Debug)]
pub(in crate::admission) struct MutatingPolicy {
    pub frame: Frame,
    pub mutations: Vec<Mutation>,
    /// Whether it looks again when others changed the object.
    pub is_reinvoked: bool,
}

/// One change of an object.
#[derive(Debug)]
pub(in crate::admission) enum Mutation {
    /// Gives the operations of a patch.
    Patch(Program),
    /// Gives an object that is laid over the other.
    Configuration(Program),
}

impl ValidatingPolicy {
    /// Compiles a policy.
    pub(in crate::admission) fn of(policy: &Value, bindings: &[Value]) -> Self {
        let (frame, names) = Frame::of(policy, bindings);
        let spec = &policy["spec"];
        let annotation = |it: &Value| {
            let source = it["valueExpression"].as_str().unwrap_or_default();
            Program::new(source, &names, Wanted::TextOrNull)
        };
        Self {
            validations: list(&spec["validations"]).map(|it| Validation::of(it, &names)).collect(),
            annotations: list(&spec["auditAnnotations"]).map(annotation).collect(),
            frame,
        }
    }
}

impl Validation {
    fn of(validation: &Value, names: &Names) -> Self {
        let message = validation["messageExpression"].as_str().filter(|source| !source.is_empty());
        let without_authorizer = names.clone().without_authorizer();
        Self {
            rule: Program::new(source(validation), names, Wanted::Bool),
            message: text(&validation["message"]),
            message_rule: message
                .map(|source| Program::new(source, &without_authorizer, Wanted::Text)),
            reason: match text(&validation["reason"]) {
                none if none.is_empty() => "Invalid".to_owned(),
                reason => reason,
            },
        }
    }
}

impl MutatingPolicy {
    /// Compiles a policy.
    pub(in crate::admission) fn of(policy: &Value, bindings: &[Value]) -> Self {
        let (frame, names) = Frame::of(policy, bindings);
        let (spec, names) = (&policy["spec"], names.with_patches());
        Self {
            frame,
            mutations: list(&spec["mutations"]).map(|it| Mutation::of(it, &names)).collect(),
            is_reinvoked: spec["reinvocationPolicy"] == "IfNeeded",
        }
    }
}

impl Mutation {
    fn of(mutation: &Value, names: &Names) -> Self {
        if mutation["patchType"] == "JSONPatch" {
            Self::Patch(Program::new(source(&mutation["jsonPatch"]), names, Wanted::Patch))
        } else {
            let source = source(&mutation["applyConfiguration"]);
            Self::Configuration(Program::new(source, names, Wanted::Configuration))
        }
    }
}
