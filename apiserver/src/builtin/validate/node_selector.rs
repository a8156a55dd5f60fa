//! Selectors of nodes: by their labels, and by their names.

use super::field::{Errors, Field};
use crate::schema::name_rule;

/// A selector that must have terms.
pub(super) fn selector(selector: &Field, errors: &mut Errors) {
    let terms = selector.child("nodeSelectorTerms");
    terms.is_required("must have at least one node selector term", errors);
    for term in terms.items() {
        self::term(&term, errors);
    }
}

/// One term: all of its requirements must hold.
fn term(term: &Field, errors: &mut Errors) {
    for expression in term.child("matchExpressions").items() {
        requirement(&expression, errors);
        for value in expression.child("values").items() {
            let details = name_rule::label_value(value.text());
            errors.extend(details.into_iter().map(|detail| value.invalid(detail)));
        }
    }
    for requirement in term.child("matchFields").items() {
        of_field(&requirement, errors);
    }
}

/// A term that is only preferred, whose values need not be those of labels.
pub(super) fn preference(term: &Field, errors: &mut Errors) {
    for expression in term.child("matchExpressions").items() {
        requirement(&expression, errors);
    }
    for requirement in term.child("matchFields").items() {
        of_field(&requirement, errors);
    }
}

fn requirement(requirement: &Field, errors: &mut Errors) {
    let (operator, values) = (requirement.string("operator"), requirement.child("values"));
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(values.required(detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(values.forbidden(detail));
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.push(values.required(detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        _ => errors.push(operator.invalid("not a valid selector operator")),
    }
    requirement.string("key").is_qualified(errors);
}

/// Of the fields of a node only its name can be selected.
fn of_field(requirement: &Field, errors: &mut Errors) {
    let (operator, values) = (requirement.string("operator"), requirement.child("values"));
    match operator.text() {
        "In" | "NotIn" if values.len() != 1 => {
            let detail =
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.push(values.required(detail));
        }
        "In" | "NotIn" => {}
        _ => errors.push(operator.invalid("not a valid selector operator")),
    }
    let key = requirement.string("key");
    if key.text() != "metadata.name" {
        errors.push(key.invalid("not a valid field selector key"));
        return;
    }
    for value in values.items() {
        value.follows(name_rule::dns_subdomain, errors);
    }
}
