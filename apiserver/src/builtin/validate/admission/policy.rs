//! Admission policies, and where they are in force.

use super::{
    super::{
        field::{Errors, Field},
        name, selector,
    },
    match_conditions, rule,
};
use crate::{cel, schema::name_rule};

const REQUIRED: &str = "validations or auditAnnotations must contain at least one item";

pub(in super::super) fn validating(policy: &Field, errors: &mut Errors) {
    let spec = policy.child("spec");
    common(&spec, errors);
    match_conditions(&spec.child("matchConditions"), errors);
    variables(&spec, errors);
    let (validations, annotations) = (spec.child("validations"), spec.child("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        errors.push(validations.required(REQUIRED));
        errors.push(annotations.required(REQUIRED));
        return;
    }
    for known in validations.items() {
        validation(&known, errors);
    }
    if annotations.len() > 20 {
        errors.push(annotations.invalid("must not have more than 20 auditAnnotations"));
    }
    let policy = policy.child("metadata").string("name").text();
    let mut known: Vec<&str> = Vec::new();
    for annotation in annotations.items() {
        audit_annotation(&annotation, policy, errors);
        let key = annotation.string("key");
        if known.contains(&key.text()) {
            errors.push(key.duplicate());
        }
        known.push(key.text());
    }
}

pub(in super::super) fn mutating(policy: &Field, errors: &mut Errors) {
    let spec = policy.child("spec");
    common(&spec, errors);
    not_deletions(&spec.child("matchConstraints"), errors);
    match_conditions(&spec.child("matchConditions"), errors);
    variables(&spec, errors);
    let mutations = spec.child("mutations");
    mutations.is_required("mutations must contain at least one item", errors);
    for known in mutations.items() {
        mutation(&known, errors);
    }
    let reinvocation = spec.string("reinvocationPolicy");
    required_one_of(&reinvocation, &["IfNeeded", "Never"], errors);
}

/// The binding of a policy.
pub(in super::super) fn binding(binding: &Field, is_validating: bool, errors: &mut Errors) {
    let spec = binding.child("spec");
    let policy = spec.string("policyName");
    policy.is_required("", errors);
    policy.follows_unless_empty(name_rule::dns_subdomain, errors);
    if let Some(reference) = spec.given("paramRef") {
        parameter(&reference, errors);
    }
    if let Some(resources) = spec.given("matchResources") {
        match_resources(&resources, errors);
    }
    if is_validating {
        actions(&spec.child("validationActions"), errors);
    } else {
        not_deletions(&spec.child("matchResources"), errors);
    }
}

fn common(spec: &Field, errors: &mut Errors) {
    given_one_of(&spec.child("failurePolicy"), &["Fail", "Ignore"], errors);
    if let Some(kind) = spec.given("paramKind") {
        parameter_kind(&kind, errors);
    }
    let constraints = spec.child("matchConstraints");
    if constraints.is_given() {
        match_resources(&constraints, errors);
        constraints.child("resourceRules").is_required("", errors);
    } else {
        errors.push(constraints.required(""));
    }
}

fn required_one_of(field: &Field, supported: &[&str], errors: &mut Errors) {
    if field.is_empty() {
        errors.push(field.required(""));
    } else {
        field.is_one_of(supported, errors);
    }
}

/// The same where an empty text is a value as well.
fn given_one_of(field: &Field, supported: &[&str], errors: &mut Errors) {
    if field.is_given() {
        field.is_one_of(supported, errors);
    } else {
        errors.push(field.required(""));
    }
}

fn match_resources(resources: &Field, errors: &mut Errors) {
    given_one_of(&resources.child("matchPolicy"), &["Equivalent", "Exact"], errors);
    for name in ["namespaceSelector", "objectSelector"] {
        let known = resources.child(name);
        if known.is_given() {
            selector::check(&known, errors);
        } else {
            errors.push(known.required(""));
        }
    }
    for list in ["resourceRules", "excludeResourceRules"] {
        for known in resources.child(list).items() {
            let mut names: Vec<&str> = Vec::new();
            for name in known.child("resourceNames").items() {
                name.follows(name_rule::path_segment, errors);
                if names.contains(&name.text()) {
                    errors.push(name.duplicate());
                }
                names.push(name.text());
            }
            rule(&known, errors);
        }
    }
}

/// What is deleted cannot be changed.
fn not_deletions(resources: &Field, errors: &mut Errors) {
    let rules = resources.child("resourceRules");
    let at = rules.at().child("operations");
    for rule in rules.items() {
        for operation in rule.child("operations").items() {
            let operation = operation.named(at.clone());
            operation.is_one_of(&["*", "CONNECT", "CREATE", "UPDATE"], errors);
        }
    }
}

fn parameter_kind(parameter: &Field, errors: &mut Errors) {
    let version = parameter.string("apiVersion");
    let text = version.text();
    match text.matches('/').count() {
        _ if text.is_empty() => errors.push(version.required("")),
        0 | 1 => {
            let (group, number) = text.split_once('/').unwrap_or(("", text));
            let of = |part: &str, details: Vec<String>| {
                let print = crate::schema::go_value::quote(part);
                (!details.is_empty()).then(|| version.invalid_as(print, details.join(",")))
            };
            if !group.is_empty() {
                errors.extend(of(group, name_rule::dns_subdomain(group, false)));
            }
            if number.is_empty() {
                errors.push(version.invalid("version must be specified"));
            } else {
                errors.extend(of(number, name_rule::dns_1035_label(number, false)));
            }
        }
        _ => errors.push(version.invalid(format!("unexpected GroupVersion string: {text}"))),
    }
    let kind = parameter.string("kind");
    let details = name_rule::dns_1035_label(&kind.text().to_lowercase(), false);
    if kind.is_empty() {
        errors.push(kind.required(""));
    } else if !details.is_empty() {
        let start = "may have mixed case, but should otherwise match: ";
        errors.push(kind.invalid(format!("{start}{}", details.join(","))));
    }
}

fn variables(spec: &Field, errors: &mut Errors) {
    for variable in spec.child("variables").items() {
        let named = variable.string("name");
        if named.text().trim().is_empty() {
            errors.push(named.required("name is not specified"));
        } else if !is_identifier(named.text()) {
            errors.push(named.invalid("must be a valid CEL identifier"));
        }
        expression(&variable.string("expression"), "expression is not specified", errors);
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !cel::is_reserved(name)
}

fn expression(expression: &Field, detail: &str, errors: &mut Errors) {
    if expression.text().trim().is_empty() {
        errors.push(expression.required(detail));
    }
}

fn validation(validation: &Field, errors: &mut Errors) {
    expression(&validation.string("expression"), "expression is not specified", errors);
    let (message, computed) =
        (validation.string("message"), validation.string("messageExpression"));
    let is_blank = |text: &Field| !text.is_empty() && text.text().trim().is_empty();
    if is_blank(&computed) {
        errors.push(computed.invalid("must be non-empty if specified"));
    }
    if is_blank(&message) {
        errors.push(message.invalid("must be non-empty if specified"));
    } else if message.text().trim().contains(['\n', '\r']) {
        errors.push(message.invalid("must not contain line breaks"));
    }
    if let Some(reason) = validation.given("reason") {
        reason.is_one_of(&["Forbidden", "Invalid", "RequestEntityTooLarge"], errors);
    }
}

fn audit_annotation(annotation: &Field, policy: &str, errors: &mut Errors) {
    const LIMIT: usize = 5 * 1024;
    let key = annotation.string("key");
    name::qualified(&format!("{policy}/{}", key.text()), key.at(), errors);
    let value = annotation.string("valueExpression");
    expression(&value, "valueExpression is not specified", errors);
    if value.text().trim().len() > LIMIT {
        errors.push(value.required(format!("must not exceed {LIMIT} bytes in length")));
    }
}

fn mutation(mutation: &Field, errors: &mut Errors) {
    let ty = mutation.string("patchType");
    let kinds = [("ApplyConfiguration", "applyConfiguration"), ("JSONPatch", "jsonPatch")];
    required_one_of(&ty, &kinds.map(|(name, _)| name), errors);
    let Some((name, own)) = kinds.iter().find(|(name, _)| *name == ty.text()) else { return };
    if let Some(patch) = mutation.given(own) {
        expression(&patch.string("expression"), "", errors);
    } else {
        let detail = format!("must be specified when patchType is {name}");
        errors.push(mutation.child(own).required(detail));
    }
    for (_, other) in kinds.iter().filter(|(_, other)| other != own) {
        if let Some(patch) = mutation.given(other) {
            let detail = format!("must not be specified when patchType is {name}");
            errors.push(patch.invalid_as(format!("\"{{{other}}}\""), detail));
        }
    }
}

fn parameter(reference: &Field, errors: &mut Errors) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let (name, selected) = (reference.string("name"), reference.child("selector"));
    name.follows_unless_empty(name_rule::path_segment, errors);
    if !name.is_empty() && selected.is_given() {
        errors.push(name.forbidden(EXCLUSIVE));
    }
    if selected.is_given() {
        selector::check(&selected, errors);
        if !name.is_empty() {
            errors.push(selected.forbidden(EXCLUSIVE));
        }
    } else if name.is_empty() {
        errors.push(reference.required("one of name or selector must be specified"));
    }
    required_one_of(&reference.string("parameterNotFoundAction"), &["Deny", "Allow"], errors);
}

fn actions(actions: &Field, errors: &mut Errors) {
    let mut known: Vec<&str> = Vec::new();
    for action in actions.items() {
        action.is_one_of(&["Audit", "Deny", "Warn"], errors);
        if known.contains(&action.text()) {
            errors.push(action.duplicate());
        }
        known.push(action.text());
    }
    if known.contains(&"Deny") && known.contains(&"Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
                      information in the API response and headers serves no purpose)";
        errors.push(actions.invalid(detail));
    }
    actions.is_required("", errors);
}
