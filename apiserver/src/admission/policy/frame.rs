//! What both kinds of policies have: where they apply, their bindings, parameters, variables and conditions.

use serde_json::Value;

use crate::{
    admission::rule::Matching,
    cel::{EvalError, Given, Names, Program, Scope, Wanted, variable_name},
};

/// The common part of a policy with its bindings, compiled.
#[derive(Debug)]
pub(in crate::admission) struct Frame {
    pub name: String,
    /// Whether what cannot be evaluated refuses the write.
    pub fails: bool,
    pub matching: Matching,
    /// The version and the kind of parameters.
    pub param_kind: Option<(String, String)>,
    pub conditions: Conditions,
    pub variables: Vec<(String, Program)>,
    pub bindings: Vec<Binding>,
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

impl Frame {
    /// Compiles what a policy has in common with others, and the names that its other expressions may use.
    pub(super) fn of(policy: &Value, bindings: &[Value]) -> (Self, Names) {
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
        let frame = Self {
            fails: spec["failurePolicy"] != "Ignore",
            matching: Matching::of_policy(&spec["matchConstraints"]),
            param_kind: params.then(|| (text(&kind["apiVersion"]), text(&kind["kind"]))),
            conditions: Conditions::of(&spec["matchConditions"], &names),
            bindings: bindings.iter().filter(is_bound).map(Binding::of).collect(),
            variables,
            name,
        };
        (frame, names)
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
                Err(EvalError::Failed(why)) => errors.push(why),
                Err(EvalError::OutOfBudget(why)) if fails => return Err(why),
                Err(EvalError::OutOfBudget(_)) => return Ok(false),
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

/// The items of a list.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A text, or else an empty one.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The expression of a part of a policy.
pub(super) fn source(value: &Value) -> &str {
    value["expression"].as_str().unwrap_or_default()
}
