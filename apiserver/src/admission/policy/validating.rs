//! Evaluates the policies that only refuse.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    compiled::{ValidatingPolicy, Validation},
    facts::{BoundFacts, namespace_of},
    frame::Binding,
    invocation::{Invocation, invocations},
};
use crate::{
    admission::{attributes::Attributes, pass::Pass},
    cel::{EvalError, Given, Scope},
    status::StatusError,
};

/// The most that the conditions of a policy may cost, and then its other expressions.
const CONDITIONS_BUDGET: i64 = 2_500_000;
const BUDGET: i64 = 10_000_000;
/// The longest message that an expression may give, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// Why a write is to be refused.
#[derive(Debug)]
struct Denial {
    message: String,
    reason: Cow<'static, str>,
}

/// What one evaluation found.
#[derive(Debug, Default)]
struct Found {
    /// As the actions of the binding say.
    denials: Vec<Denial>,
    /// Whatever the actions are.
    certain: Vec<Denial>,
}

/// A denial, and the binding that it comes from.
type Denied<'p> = (Option<&'p Binding>, Denial);

/// Evaluates all policies; the first denial is the answer.
pub(in crate::admission) fn validate(
    pass: &Pass<'_>,
    object: Option<&Value>,
) -> Result<(), StatusError> {
    let attributes = pass.attributes(object);
    let mut denied = None;
    for policy in &pass.chain.validating_policies {
        let found = evaluate(pass, &attributes, policy)?.into_iter().next();
        let refusal = found.map(|found| refusal(&attributes, policy, &found));
        denied = denied.or(refusal);
    }
    denied.map_or(Ok(()), Err)
}

fn evaluate<'p>(
    pass: &Pass<'_>,
    attributes: &Attributes<'_>,
    policy: &'p ValidatingPolicy,
) -> Result<Vec<Denied<'p>>, StatusError> {
    let (invocations, misconfigured) = invocations(pass, attributes, &policy.frame);
    let mut denied = Vec::new();
    if policy.frame.fails {
        let denial = |(binding, why)| (binding, Denial::new(why, "Invalid"));
        denied.extend(misconfigured.into_iter().map(denial));
    }
    for Invocation { binding, form, params } in &invocations {
        let namespace = namespace_of(pass.cluster, attributes)?;
        let facts = BoundFacts::of(attributes, form);
        let found = judge(policy, &facts, &namespace, params);
        denied.extend(act(pass, policy, binding, found));
    }
    Ok(denied)
}

/// What is refused by what was found; the rest is warned of or forgotten.
fn act<'p>(
    pass: &Pass<'_>,
    policy: &ValidatingPolicy,
    binding: &'p Binding,
    found: Found,
) -> Vec<Denied<'p>> {
    let takes = |action: &str| binding.actions.iter().any(|it| it == action);
    if takes("Warn") {
        for denial in &found.denials {
            pass.warnings.warn(&format!(
                "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                policy.frame.name, binding.name, denial.message
            ));
        }
    }
    let refused = if takes("Deny") { found.denials } else { Vec::new() };
    refused.into_iter().chain(found.certain).map(|denial| (Some(binding), denial)).collect()
}

/// Evaluates a policy with parameters.
fn judge(
    policy: &ValidatingPolicy,
    facts: &BoundFacts,
    namespace: &Value,
    params: &Value,
) -> Found {
    let frame = &policy.frame;
    let scope = |budget| {
        let mut scope = Scope::new(facts.with(namespace, params), budget);
        frame.variables.iter().for_each(|(name, program)| scope.add(name, program));
        scope
    };
    let failed = |why: String| Found {
        denials: if frame.fails { vec![Denial::new(why, "Invalid")] } else { Vec::new() },
        certain: Vec::new(),
    };
    match frame.conditions.hold(&mut scope(CONDITIONS_BUDGET), frame.fails) {
        Ok(true) => {}
        Ok(false) => return Found::default(),
        Err(why) => return failed(why),
    }
    let mut scope = scope(BUDGET);
    let mut found = Found::default();
    for validation in &policy.validations {
        match scope.run(&validation.rule) {
            Ok(Given::Bool(true)) => {}
            Ok(_) => found.denials.push(denial(validation, &mut scope)),
            Err(EvalError::Failed(why)) if frame.fails => {
                found.denials.push(Denial::new(why, "Invalid"));
            }
            Err(EvalError::Failed(_)) => {}
            Err(EvalError::OutOfBudget(why)) => return failed(why),
        }
    }
    for annotation in &policy.annotations {
        if let Err(error) = scope.run(annotation)
            && frame.fails
        {
            found.certain.push(Denial::new(error.message().to_owned(), "Invalid"));
        }
    }
    found
}

fn denial<'a>(validation: &'a Validation, scope: &mut Scope<'a>) -> Denial {
    let mut message = None;
    if let Some(rule) = &validation.message_rule {
        match scope.run(rule) {
            Ok(Given::Text(text)) => {
                let text = text.trim();
                let is_usable =
                    !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
                message = is_usable.then(|| text.to_owned());
            }
            Err(EvalError::OutOfBudget(why)) => {
                return Denial::new(format!("failed messageExpression: {why}"), "Invalid");
            }
            _ => {}
        }
    }
    let own = validation.message.trim();
    let own = (!own.is_empty()).then(|| own.to_owned());
    let usual = || format!("failed expression: {}", validation.rule.source.trim());
    Denial {
        message: message.or(own).unwrap_or_else(usual),
        reason: Cow::Owned(validation.reason.clone()),
    }
}

fn refusal(
    attributes: &Attributes<'_>,
    policy: &ValidatingPolicy,
    (binding, denial): &Denied<'_>,
) -> StatusError {
    let by = binding.map(|it| format!(" with binding '{}'", it.name)).unwrap_or_default();
    let message = format!(
        "ValidatingAdmissionPolicy '{}'{by} denied request: {}",
        policy.frame.name, denial.message
    );
    let name = attributes.shown_name();
    let mut error = StatusError::forbidden(&attributes.asked.resource.id, name, &message);
    error.code = match &*denial.reason {
        "Forbidden" => 403,
        "Unauthorized" => 401,
        "RequestEntityTooLarge" => 413,
        _ => 422,
    };
    error.reason.clone_from(&denial.reason);
    error.details["causes"] = serde_json::json!([{ "message": message }]);
    error
}

impl Denial {
    fn new(message: String, reason: &'static str) -> Self {
        Self { message, reason: Cow::Borrowed(reason) }
    }
}
