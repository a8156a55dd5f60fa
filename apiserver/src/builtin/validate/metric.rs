//! What an autoscaler measures: the source of a metric and its target.

use super::{
    Quantity,
    field::{Errors, Field},
    resource_name,
    scaled::{self, Group},
};
use crate::schema::name_rule;

const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// The sources in the order of their checks, with the type that each belongs to.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];

/// The metrics of an autoscaler that has at least `min` replicas.
pub(super) fn all(metrics: &Field, min: &Field, errors: &mut Errors) {
    let mut scales_to_zero = false;
    for metric in metrics.items() {
        one(&metric, errors);
        scales_to_zero |= matches!(metric.string("type").text(), "Object" | "External");
    }
    if min.is_given() && min.number() == 0 && !scales_to_zero {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(metrics.forbidden(detail));
    }
}

fn one(metric: &Field, errors: &mut Errors) {
    let ty = metric.string("type");
    ty.is_required("must specify a metric source type", errors);
    ty.is_one_of(&TYPES, errors);
    let given: Vec<_> =
        SOURCES.iter().filter_map(|(name, _)| Some((*name, metric.given(name)?))).collect();
    if let Some((name, source)) = given.first() {
        one_source(name, source, errors);
    }
    let expected = SOURCES.iter().find(|(_, of)| *of == ty.text()).map(|(name, _)| *name);
    if let Some(expected) = expected.filter(|name| metric.given(name).is_none()) {
        let detail = "must populate information for the given metric source";
        errors.push(metric.child(expected).required(detail));
    }
    // The real server says it twice.
    if !ty.is_empty() {
        ty.is_one_of(&TYPES, errors);
    }
    if given.len() != 1 {
        for (_, extra) in given.iter().filter(|(name, _)| Some(*name) != expected) {
            errors.push(extra.forbidden("must populate the given metric source only"));
        }
    }
}

fn one_source(name: &str, source: &Field, errors: &mut Errors) {
    match name {
        "object" => {
            scaled::target(&source.child("describedObject"), Group::Any, errors);
            identifier(&source.child("metric"), errors);
            target(source, errors);
            value_or_average(source, "must set either a target value or averageValue", errors);
        }
        "external" => {
            identifier(&source.child("metric"), errors);
            target(source, errors);
            let detail = "must set either a target value for metric or a per-pod target";
            value_or_average(source, detail, errors);
            let (value, average) = (target_field(source, "value"), "averageValue");
            if value.is_given() && target_field(source, average).is_given() {
                let detail = "may not set both a target value for metric and a per-pod target";
                errors.push(value.forbidden(detail));
            }
        }
        "pods" => {
            identifier(&source.child("metric"), errors);
            target(source, errors);
            let average = target_field(source, "averageValue");
            average.is_required("must specify a positive target averageValue", errors);
        }
        _ => resource(source, name == "containerResource", errors),
    }
}

fn resource(source: &Field, of_container: bool, errors: &mut Errors) {
    let name = source.string("name");
    name.is_required("must specify a resource name", errors);
    if of_container {
        if !name.is_empty() {
            resource_name::of_container(name.text(), name.at(), errors);
        }
        let container = source.string("container");
        container.is_required("must specify a container", errors);
        container.follows_unless_empty(name_rule::dns_label, errors);
    }
    target(source, errors);
    let utilization = target_field(source, "averageUtilization");
    let value = target_field(source, "averageValue");
    match (utilization.is_given(), value.is_given()) {
        (false, false) => {
            let detail = "must set either a target raw value or a target utilization";
            errors.push(utilization.required(detail));
        }
        (true, true) => {
            let detail = "may not set both a target raw value and a target utilization";
            errors.push(value.forbidden(detail));
        }
        _ => {}
    }
}

fn target_field<'a>(source: &Field<'a>, name: &str) -> Field<'a> {
    source.child("target").child(name)
}

fn value_or_average(source: &Field, detail: &str, errors: &mut Errors) {
    let average = target_field(source, "averageValue");
    if !target_field(source, "value").is_given() && !average.is_given() {
        errors.push(average.required(detail));
    }
}

fn identifier(metric: &Field, errors: &mut Errors) {
    let name = metric.string("name");
    name.is_required("must specify a metric name", errors);
    name.follows_unless_empty(name_rule::path_segment, errors);
}

fn target(source: &Field, errors: &mut Errors) {
    let ty = source.child("target").string("type");
    ty.is_required("must specify a metric target type", errors);
    if !matches!(ty.text(), "Utilization" | "Value" | "AverageValue") {
        errors.push(ty.invalid("must be either Utilization, Value, or AverageValue"));
    }
    for name in ["value", "averageValue"] {
        let field = target_field(source, name);
        if field.is_given() && !field.quantity().is_some_and(Quantity::is_positive) {
            errors.push(field.invalid("must be positive"));
        }
    }
    let utilization = target_field(source, "averageUtilization");
    if utilization.is_given() && utilization.number() < 1 {
        errors.push(utilization.invalid("must be greater than 0"));
    }
}
