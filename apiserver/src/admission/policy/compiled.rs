//! Policies and bindings, ready to be evaluated.

use serde_json::Value;

use crate::{
    admission::rule::Matching,
    cel::{Given, Names, Program, Scope, Trouble, Wanted, variable_name},
};

/// A `ValidatingAdmissionPolicy` with its bindings.
#[derive(Debug)]
pub(in crate::admission) struct Policy {
    pub name: String,
    /// Whether what cannot be evaluated refuses the write.
    pub fails: bool,
    pub matching: Matching,
    /// The version and the kind of parameters.
    pub param_kind: Option<(String, String)>,
    pub conditions: Conditions,
    pub variables: Vec<(String, Program)>,
    pub validations: Vec<Validation>,
    pub annotations: Vec<Program>,
    pub bindings: Vec<Binding>,
}

/// One rule of a policy.
#[derive(Debug)]
pub(in crate::admission) struct Validation {
    pub rule: Program,
    pub message: String,
    pub message_rule: Option<Program>,
    pub reason: String,
}

/// Where a policy has effect, and which.
#[derive(Debug)]
pub(in crate::admission) struct Binding {
    pub name: String,
    pub matching: Option<Matching>,
    pub param_ref: Value,
    pub actions: Vec<String>,
}

/// The conditions under which a webhook or a policy is asked.
#[derive(Debug, Default)]
pub(in crate::admission) struct Conditions(Vec<Program>);

impl Policy {
    /// Compiles a policy.
    pub(in crate::admission) fn of(policy: &Value, bindings: &[Value]) -> Self {
        let (spec, name) = (&policy["spec"], text(&policy["metadata"]["name"]));
        let is_bound = |binding: &&Value| text(&binding["spec"]["policyName"]) == name;
        let kind = &spec["paramKind"];
        let params = kind.is_object();
        let mut names = Names::new(params).with_variables();
        let variables = list(&spec["variables"])
            .map(|variable| {
                let name = text(&variable["name"]);
                let program = Program::new(source(variable), &names, Wanted::Anything);
                names.add(&name, &program);
                (variable_name(&name), program)
            })
            .collect();
        let annotation = |it: &Value| {
            let source = it["valueExpression"].as_str().unwrap_or_default();
            Program::new(source, &names, Wanted::TextOrNull)
        };
        Self {
            fails: spec["failurePolicy"] != "Ignore",
            matching: Matching::of_policy(&spec["matchConstraints"]),
            param_kind: params.then(|| (text(&kind["apiVersion"]), text(&kind["kind"]))),
            conditions: Conditions::of(&spec["matchConditions"], &names),
            validations: list(&spec["validations"]).map(|it| Validation::of(it, &names)).collect(),
            annotations: list(&spec["auditAnnotations"]).map(annotation).collect(),
            bindings: bindings.iter().filter(is_bound).map(Binding::of).collect(),
            variables,
            name,
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

impl Binding {
    fn of(binding: &Value) -> Self {
        let spec = &binding["spec"];
        Self {
            name: text(&binding["metadata"]["name"]),
            matching: spec["matchResources"]
                .is_object()
                .then(|| Matching::of_policy(&spec["matchResources"])),
            param_ref: spec["paramRef"].clone(),
            actions: list(&spec["validationActions"]).map(text).collect(),
        }
    }
}

impl Conditions {
    /// Compiles conditions.
    pub(in crate::admission) fn of(conditions: &Value, names: &Names) -> Self {
        let program = |it: &Value| Program::new(source(it), names, Wanted::Bool);
        Self(list(conditions).map(program).collect())
    }

    /// Whether there are none.
    pub(in crate::admission) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all hold. One that does not decides, whatever errors there are.
    pub(in crate::admission) fn hold<'a>(
        &'a self,
        scope: &mut Scope<'a>,
        fails: bool,
    ) -> Result<bool, String> {
        let mut errors = Vec::new();
        let mut is_decided = false;
        for condition in &self.0 {
            match scope.run(condition) {
                Ok(Given::Bool(false)) => is_decided = true,
                Ok(_) => {}
                Err(Trouble::Failed(why)) => errors.push(why),
                Err(Trouble::OutOfBudget(why)) if fails => return Err(why),
                Err(Trouble::OutOfBudget(_)) => return Ok(false),
            }
        }
        match errors.as_slice() {
            _ if is_decided => Ok(false),
            [] => Ok(true),
            _ if !fails => Ok(false),
            [one] => Err(one.clone()),
            many => Err(format!("[{}]", many.join(", "))),
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn source(value: &Value) -> &str {
    value["expression"].as_str().unwrap_or_default()
}
