//! Evaluates the policies that change an object: each sees what those before it made of it.

use serde_json::{Value, json};

use super::{
    compiled::{MutatingPolicy, Mutation},
    facts::{BoundFacts, namespace_of},
    frame::{Binding, Frame},
    invocation::{Invocation, invocations},
};
use crate::{
    admission::{
        again::Again,
        attributes::{Attributes, Form},
        json_patch,
        kind::{GroupVersionKind, Operation},
        pass::{Pass, Refine, Unknown},
    },
    apply, builtin,
    cel::Scope,
    schema::Schema,
    status::StatusError,
};

/// The most that the conditions of a policy may cost, and then each of its mutations.
const CONDITIONS_BUDGET: i64 = 2_500_000;
const BUDGET: i64 = 10_000_000;

/// Why a mutation did not change an object.
enum Refusal {
    /// The policy decides whether that refuses the write.
    Failed(String),
    /// No write survives it.
    Denied(StatusError),
}

/// Lets all policies change an object.
pub(in crate::admission) fn mutate(
    pass: &Pass<'_>,
    object: &mut Option<Value>,
    refine: Refine<'_>,
    again: &mut Again,
) -> Result<(), StatusError> {
    // What is deleted cannot be changed.
    if pass.operation == Operation::Delete || pass.chain.mutating_policies.is_empty() {
        return Ok(());
    }
    let mut refused = Vec::new();
    let mut due = Vec::new();
    for policy in &pass.chain.mutating_policies {
        let attributes = pass.attributes(object.as_ref());
        let (found, misconfigured) = invocations(pass, &attributes, &policy.frame);
        let refusal =
            |(binding, why): (Option<&Binding>, String)| Denied::new(policy, binding, &why, None);
        refused.extend(misconfigured.into_iter().map(refusal));
        due.extend(found.into_iter().map(|invocation| (policy, invocation)));
    }
    if !due.is_empty() {
        let mut turn = Turn { pass, refine, again, object };
        refused.extend(turn.take(&due)?);
    }
    let attributes = pass.attributes(object.as_ref());
    refused.retain(|denied| denied.fails);
    refusal(&attributes, &refused).map_or(Ok(()), Err)
}

/// The evaluation of all policies in one round.
struct Turn<'a, 'p> {
    pass: &'a Pass<'p>,
    refine: Refine<'a>,
    again: &'a mut Again,
    object: &'a mut Option<Value>,
}

impl Turn<'_, '_> {
    fn take(
        &mut self,
        due: &[(&MutatingPolicy, Invocation<'_>)],
    ) -> Result<Vec<Denied>, StatusError> {
        let namespace = namespace_of(self.pass.cluster, &self.attributes())?;
        self.again.begin(self.object.as_ref());
        let mut refused = Vec::new();
        let mut is_touched = false;
        for (policy, invocation) in due {
            let mut failed = |why: &str| {
                refused.push(Denied::new(policy, Some(invocation.binding), why, Some("Invalid")));
            };
            match self.is_wanted(&policy.frame, invocation, &namespace) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    failed(&why);
                    continue;
                }
            }
            let id = id_of(policy, invocation);
            if self.again.skips(&id) {
                continue;
            }
            let before = self.object.clone();
            for mutation in &policy.mutations {
                match self.change(&policy.frame, invocation, mutation, &namespace) {
                    Ok(()) => is_touched = true,
                    Err(Refusal::Denied(error)) => return Err(error),
                    Err(Refusal::Failed(why)) => failed(&why),
                }
            }
            if before != *self.object {
                self.again.changed();
            }
            if policy.is_reinvoked {
                self.again.remember(&id);
            }
        }
        if is_touched {
            // Each mutation counts as a change, whether or not it is one.
            self.again.changed();
        }
        self.again.end(self.object.as_ref());
        Ok(refused)
    }

    fn attributes(&self) -> Attributes<'_> {
        self.pass.attributes(self.object.as_ref())
    }

    fn is_wanted(
        &self,
        frame: &Frame,
        invocation: &Invocation<'_>,
        namespace: &Value,
    ) -> Result<bool, String> {
        let facts = BoundFacts::of(&self.attributes(), &invocation.form);
        let mut scope = Scope::new(facts.with(namespace, &invocation.params), CONDITIONS_BUDGET);
        frame.variables.iter().for_each(|(name, program)| scope.add(name, program));
        frame.conditions.hold(&mut scope, frame.fails)
    }

    fn change(
        &mut self,
        frame: &Frame,
        Invocation { form, params, .. }: &Invocation<'_>,
        mutation: &Mutation,
        namespace: &Value,
    ) -> Result<(), Refusal> {
        let asked = self.pass.asked;
        let Some(object) = self.object.as_ref() else { return Ok(()) };
        let shown = form.of_object(asked, object);
        let facts = BoundFacts::of(&self.attributes(), form);
        let mut scope = Scope::new(facts.with(namespace, params), BUDGET);
        frame.variables.iter().for_each(|(name, program)| scope.add(name, program));
        let changed = changed(&mut scope, mutation, &shown, form)?;
        let unknown = match mutation {
            Mutation::Patch(_) => Unknown::Refused,
            Mutation::Configuration(_) => Unknown::Dropped,
        };
        let mut changed = form.back(asked, &changed);
        (self.refine)(&mut changed, unknown).map_err(Refusal::Denied)?;
        *self.object = Some(changed);
        Ok(())
    }
}

/// An object as a mutation wants it.
fn changed<'a>(
    scope: &mut Scope<'a>,
    mutation: &'a Mutation,
    object: &Value,
    form: &Form,
) -> Result<Value, Refusal> {
    let failed = |why: String| Refusal::Failed(why);
    match mutation {
        Mutation::Patch(program) => {
            let operations =
                scope.operations(program).map_err(|it| failed(it.message().to_owned()))?;
            match json_patch::patched(object, Value::Array(operations)) {
                Ok(changed) => Ok(changed),
                Err(inapplicable) if inapplicable.is_test => Ok(object.clone()),
                Err(inapplicable) => Err(failed(format!("JSON Patch: {}", inapplicable.why))),
            }
        }
        Mutation::Configuration(program) => {
            let given =
                scope.configuration(program).map_err(|it| failed(it.message().to_owned()))?;
            let schema = schema_of(form)?;
            let changed = applied(object, given, schema);
            changed.map_err(|why| failed(format!("error applying patch: {why}")))
        }
    }
}

fn applied(object: &Value, mut given: Value, schema: &Schema) -> Result<Value, String> {
    for field in ["apiVersion", "kind"] {
        given[field] = object[field].clone();
    }
    apply::overlay(object, &given, schema)
}

/// The schema of a whole object, or of what is sent to a subresource.
fn schema_of(form: &Form) -> Result<&Schema, Refusal> {
    if form.kind == GroupVersionKind::of(&form.resource) {
        return Ok(&form.resource.schema);
    }
    match form.kind.kind.as_str() {
        "Scale" => Ok(builtin::scale_schema()),
        "TokenRequest" => Ok(builtin::token_request_schema()),
        other => {
            let why = format!("applying to a {other} is not supported here");
            Err(Refusal::Denied(StatusError::not_implemented(&why)))
        }
    }
}

/// Distinguishes the evaluations of all policies.
fn id_of(policy: &MutatingPolicy, Invocation { binding, params, .. }: &Invocation<'_>) -> String {
    let of = |field: &str| params["metadata"][field].as_str().unwrap_or_default().to_owned();
    format!("{}/{}/{}/{}", policy.frame.name, binding.name, of("namespace"), of("name"))
}

/// What a policy refuses.
struct Denied {
    fails: bool,
    message: String,
    reason: Option<&'static str>,
}

impl Denied {
    fn new(
        policy: &MutatingPolicy,
        binding: Option<&Binding>,
        why: &str,
        reason: Option<&'static str>,
    ) -> Self {
        let Frame { name, fails, .. } = &policy.frame;
        let message = match binding {
            Some(binding) => {
                format!("policy '{name}' with binding '{}' denied request: {why}", binding.name)
            }
            None => format!("policy {name:?} denied request: {why}"),
        };
        Self { fails: *fails, message, reason }
    }
}

/// The first denial is the answer, and all are its causes.
fn refusal(attributes: &Attributes<'_>, denied: &[Denied]) -> Option<StatusError> {
    let first = denied.first()?;
    let id = &attributes.asked.resource.id;
    let mut error = StatusError::forbidden(id, attributes.shown_name(), &first.message);
    error.message.clone_from(&first.message);
    if let Some(reason) = first.reason {
        error.reason = reason.into();
    }
    error.details["causes"] = denied.iter().map(|it| json!({ "message": it.message })).collect();
    Some(error)
}
