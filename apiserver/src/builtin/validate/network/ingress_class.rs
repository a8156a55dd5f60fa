//! Ingress classes.

use super::{
    super::{
        field::{Errors, Field},
        immutable, name,
    },
    ingress,
};
use crate::schema::name_rule;

/// The controller of a class and its parameters.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    let controller = spec.string("controller");
    if controller.text().len() > 250 {
        errors.push(controller.too_long(250));
    }
    name::domain_prefixed(&controller, errors);
    if let Some(parameters) = spec.given("parameters") {
        self::parameters(&parameters, errors);
    }
}

/// The controller of a class never changes.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let controller = new.child("spec").string("controller");
    if controller.value() != old.child("spec").string("controller").value() {
        errors.push(controller.invalid(immutable::DETAIL));
    }
    spec(&new.child("spec"), errors);
}

fn parameters(parameters: &Field, errors: &mut Errors) {
    ingress::reference(parameters, errors);
    let (scope, namespace) = (parameters.child("scope"), parameters.child("namespace"));
    if !scope.is_given() {
        errors.push(scope.required(""));
        return;
    }
    match scope.text() {
        "Namespace" if namespace.is_given() => namespace.follows(name_rule::dns_label, errors),
        "Namespace" => {
            errors.push(namespace.required("`parameters.scope` is set to 'Namespace'"));
        }
        "Cluster" if namespace.is_given() => {
            errors.push(namespace.forbidden("`parameters.scope` is set to 'Cluster'"));
        }
        "Cluster" => {}
        _ => errors.push(scope.not_supported(&["Cluster", "Namespace"])),
    }
}
