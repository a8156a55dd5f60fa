//! What may change with a job.

use serde_json::Value;

use super::{
    super::{
        field::{Errors, Field},
        immutable, shown,
    },
    spec,
};
use crate::builtin::path;

/// The successor of a job.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let (after, before) = (new.child("spec"), old.child("spec"));
    spec::spec(&after, errors);
    spec::selected(&after, errors);
    completions(&after, &before, errors);
    immutable::selector(new, old, errors);
    template(new, old, errors);
    immutable::field(new, old, "spec.completionMode", errors);
    immutable::structure(new, old, "spec.podFailurePolicy", "batch.PodFailurePolicy", errors);
    immutable::field(new, old, "spec.backoffLimitPerIndex", errors);
    immutable::field(new, old, "spec.managedBy", errors);
    immutable::structure(new, old, "spec.successPolicy", "batch.SuccessPolicy", errors);
    spec::name_allows_completions(new, errors);
}

/// An indexed job may get more or less work, if as many pods do it.
fn completions(after: &Field, before: &Field, errors: &mut Errors) {
    let (new, old) = (after.child("completions"), before.child("completions"));
    if new.value() == old.value() {
        return;
    }
    if !spec::is_indexed(after) {
        errors.push(new.invalid(immutable::DETAIL));
    } else if new.is_given() && new.number() != after.child("parallelism").number() {
        errors.push(new.invalid("can only be modified in tandem with spec.parallelism"));
    }
}

fn template(new: &Field, old: &Field, errors: &mut Errors) {
    let template = new.child("spec").child("template");
    let (after, mut expected) = (template.value(), old.value()["spec"]["template"].clone());
    if may_move(old) {
        with_places_of(&mut expected, after);
        with_resources_of(&mut expected, after);
        let (after, expected) = (&after["spec"], &expected["spec"]);
        if after != expected {
            let print = shown::go("core.PodSpec", after);
            let at = template.at().child("spec");
            errors.push(template.named(at).invalid_as(print, immutable::DETAIL));
        }
    } else if *after != expected {
        let print = shown::go("core.PodTemplateSpec", after);
        errors.push(template.invalid_as(print, immutable::DETAIL));
    }
}

/// Whether the pods of a job may still be placed elsewhere, and get other resources: it is suspended, and none of
/// them is running.
fn may_move(old: &Field) -> bool {
    let status = old.child("status");
    let is_stopped = status.child("conditions").items().iter().any(|condition| {
        condition.string("type").text() == "Suspended"
            && condition.string("status").text() == "True"
    });
    old.child("spec").child("suspend").flag()
        && (status.given("startTime").is_none() || is_stopped)
        && status.child("active").number() == 0
}

fn with_places_of(expected: &mut Value, after: &Value) {
    let nodes = "spec.affinity.nodeAffinity";
    path::copy(expected, after, nodes);
    let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    if path::get(after, "spec.affinity").is_none()
        && path::get(expected, "spec.affinity").is_some_and(is_empty)
    {
        path::remove(expected, "spec.affinity");
    }
    for field in [
        "spec.nodeSelector",
        "spec.tolerations",
        "metadata.annotations",
        "metadata.labels",
        "spec.schedulingGates",
    ] {
        path::copy(expected, after, field);
    }
}

fn with_resources_of(expected: &mut Value, after: &Value) {
    for list in ["spec.containers", "spec.initContainers"] {
        let others = path::list(after, list);
        let containers = path::list_mut(expected, list);
        if containers.len() != others.len() {
            continue;
        }
        for (container, other) in containers.iter_mut().zip(others) {
            if container["name"] == other["name"] {
                path::copy(container, other, "resources");
            }
        }
    }
}
