//! What is wrong with the expressions of a configuration when it is written.

use serde_json::Value;

use crate::{
    cel::{Names, Program, Wanted},
    schema::{FieldError, FieldPath},
};

/// The errors of the expressions in a configuration of admission.
pub(crate) fn configuration_errors(kind: &str, object: &Value) -> Vec<FieldError> {
    match kind {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            let names = Names::new(false);
            let webhooks = object["webhooks"].as_array().into_iter().flatten().enumerate();
            webhooks
                .flat_map(|(at, webhook)| {
                    let path = FieldPath::new("webhooks").index(at);
                    conditions(&webhook["matchConditions"], &names, &path)
                })
                .collect()
        }
        "ValidatingAdmissionPolicy" => of_validating(&object["spec"]),
        "MutatingAdmissionPolicy" => of_mutating(&object["spec"]),
        _ => Vec::new(),
    }
}

fn of_validating(spec: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("spec");
    let names = Names::new(spec["paramKind"].is_object());
    let mut errors = conditions(&spec["matchConditions"], &names, &path);
    let has_variables = entries(&spec["variables"]).next().is_some();
    let mut names = if has_variables { names.with_variables() } else { names };
    errors.extend(variables(spec, &path, &mut names));
    let without_authorizer = names.clone().without_authorizer();
    for (at, validation) in entries(&spec["validations"]) {
        let path = path.child("validations").index(at);
        for (field, names, wanted) in [
            ("expression", &names, Wanted::Bool),
            ("messageExpression", &without_authorizer, Wanted::Text),
        ] {
            if let Some(source) = source(validation, field) {
                errors.extend(error(&Program::new(source, names, wanted), &path.child(field)));
            }
        }
    }
    for (at, annotation) in entries(&spec["auditAnnotations"]) {
        let path = path.child("auditAnnotations").index(at).child("valueExpression");
        if let Some(source) = source(annotation, "valueExpression") {
            errors.extend(error(&Program::new(source, &names, Wanted::TextOrNull), &path));
        }
    }
    errors
}

fn of_mutating(spec: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("spec");
    let names = Names::new(spec["paramKind"].is_object());
    let mut errors = conditions(&spec["matchConditions"], &names, &path);
    let mut names = names.with_variables();
    errors.extend(variables(spec, &path, &mut names));
    let names = names.with_patches();
    for (at, mutation) in entries(&spec["mutations"]) {
        let (field, wanted) = match mutation["patchType"].as_str() {
            Some("JSONPatch") => ("jsonPatch", Wanted::Patch),
            Some("ApplyConfiguration") => ("applyConfiguration", Wanted::Configuration),
            _ => continue,
        };
        let path = path.child("mutations").index(at).child(field).child("expression");
        if let Some(source) = source(&mutation[field], "expression") {
            errors.extend(error(&Program::new(source.trim(), &names, wanted), &path));
        }
    }
    errors
}

/// The errors of variables, which the names afterwards know.
fn variables(spec: &Value, path: &FieldPath, names: &mut Names) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (at, variable) in entries(&spec["variables"]) {
        let Some(source) = source(variable, "expression") else { continue };
        let program = Program::new(source, names, Wanted::Anything);
        let path = path.child("variables").index(at).child("expression");
        errors.extend(error(&program, &path));
        names.add(variable["name"].as_str().unwrap_or_default(), &program);
    }
    errors
}

fn conditions(conditions: &Value, names: &Names, path: &FieldPath) -> Vec<FieldError> {
    let compiled = entries(conditions).filter_map(|(at, condition)| {
        let path = path.child("matchConditions").index(at).child("expression");
        let program = Program::new(source(condition, "expression")?.trim(), names, Wanted::Bool);
        error(&program, &path)
    });
    compiled.collect()
}

fn error(program: &Program, path: &FieldPath) -> Option<FieldError> {
    let why = program.error()?;
    Some(FieldError::invalid(path, &Value::from(program.source.as_str()), why.to_owned()))
}

fn entries(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

/// The expression; validation refuses empty ones in other words.
fn source<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value[field].as_str().filter(|source| !source.trim().is_empty())
}
