//! What may change with a pod: images, a few numbers, and what a gate still keeps from being scheduled.

use serde_json::Value;

use super::{
    super::{
        field::{Errors, Field},
        shown,
    },
    annotation, container, toleration, whole,
};
use crate::builtin::path;

/// The successor of a pod.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    whole::metadata_and_spec(new, errors);
    let (after, before) = (new.child("spec"), old.child("spec"));
    let annotations = new.child("metadata").child("annotations");
    let before_annotations = old.child("metadata").child("annotations");
    annotation::update(&annotations, &before_annotations, &after, errors);
    for list in ["containers", "initContainers"] {
        let (after, before) = (after.child(list), before.child(list));
        if after.len() != before.len() {
            errors.push(after.forbidden("pod updates may not add or remove containers"));
            return;
        }
        for container in after.items() {
            container.string("image").is_required("", errors);
            container::image_is_trimmed(&container, errors);
        }
    }
    if !deadline(&after, &before, errors) {
        return;
    }
    tolerations(&after.child("tolerations"), &before.child("tolerations"), errors);
    gates(&after.child("schedulingGates"), &before.child("schedulingGates"), errors);
    let mut kept = with_old_values(new.value(), old.value());
    if !before.child("schedulingGates").is_empty() {
        gated(&after, &before, &mut kept, errors);
    }
    if kept["spec"] != old.value()["spec"] {
        let difference = shown::difference("core.PodSpec", &old.value()["spec"], &kept["spec"]);
        errors.push(after.forbidden(format!("{ALLOWED}\n{difference}")));
    }
}

const ALLOWED: &str = "pod updates may not change fields other than \
                       `spec.containers[*].image`,`spec.initContainers[*].image`,\
                       `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
                       tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 \
                       if it was previously negative)";

/// A deadline may be set, and come nearer. Whether the other fields are worth a look.
fn deadline(after: &Field, before: &Field, errors: &mut Errors) -> bool {
    let field = "activeDeadlineSeconds";
    let (new, old) = (after.child(field), before.child(field));
    if !new.is_given() {
        if old.is_given() {
            errors.push(new.invalid("must not update from a positive integer to nil value"));
        }
        return true;
    }
    let count = errors.len();
    new.is_within(0, i32::MAX.into(), errors);
    if errors.len() == count && old.is_given() && old.number() < new.number() {
        errors.push(new.invalid("must be less than or equal to previous value"));
    }
    errors.len() == count
}

fn tolerations(after: &Field, before: &Field, errors: &mut Errors) {
    let without_time = |toleration: &Field| {
        let mut value = toleration.value().clone();
        path::remove(&mut value, "tolerationSeconds");
        value
    };
    let kept: Vec<Value> = after.items().iter().map(without_time).collect();
    if !before.items().iter().all(|toleration| kept.contains(&without_time(toleration))) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(after.forbidden(detail));
        return;
    }
    toleration::all(after, errors);
}

fn gates(after: &Field, before: &Field, errors: &mut Errors) {
    let known: Vec<&str> = before.items().iter().map(|gate| gate.string("name").text()).collect();
    for gate in after.items() {
        let name = gate.string("name");
        if !known.contains(&name.text()) {
            let detail = format!(
                "only deletion is allowed, but found new scheduling gate '{}'",
                name.text()
            );
            errors.push(name.forbidden(detail));
        }
    }
}

/// The new pod with the old values of what may change.
fn with_old_values(new: &Value, old: &Value) -> Value {
    let mut kept = new.clone();
    for list in ["spec.containers", "spec.initContainers"] {
        let containers = path::list_mut(&mut kept, list).iter_mut();
        for (container, before) in containers.zip(path::list(old, list)) {
            path::copy(container, before, "image");
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        path::copy(&mut kept, old, &format!("spec.{field}"));
    }
    let grace = |pod| path::number(pod, "spec.terminationGracePeriodSeconds");
    if grace(old).is_some_and(|seconds| seconds < 0) && grace(new) == Some(1) {
        path::copy(&mut kept, old, "spec.terminationGracePeriodSeconds");
    }
    kept
}

/// The nodes of a pod that is not scheduled yet can still be narrowed.
fn gated(after: &Field, before: &Field, kept: &mut Value, errors: &mut Errors) {
    let (new, old) = (after.child("nodeSelector"), before.child("nodeSelector"));
    if old.entries().iter().any(|(key, value)| new.child(key).value() != value.value()) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.push(new.invalid(detail));
    }
    let selector = old.value().clone();
    restore(kept, "spec.nodeSelector", &selector);
    let nodes = |spec: &Field<'_>| spec.value().pointer("/affinity/nodeAffinity").cloned();
    let (new, old) = (nodes(after).unwrap_or_default(), nodes(before).unwrap_or_default());
    if new == old {
        return;
    }
    node_affinity(
        &Field::new(&new, &after.at().child("affinity").child("nodeAffinity")),
        &old,
        errors,
    );
    restore(kept, "spec.affinity.nodeAffinity", &old);
    let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    if before.given("affinity").is_none() && is_empty(&kept["spec"]["affinity"]) {
        path::remove(kept, "spec.affinity");
    }
}

fn restore(object: &mut Value, at: &str, value: &Value) {
    if value.is_null() {
        path::remove(object, at);
    } else {
        path::set(object, at, value.clone());
    }
}

fn node_affinity(new: &Field, old: &Value, errors: &mut Errors) {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let Some(before) = old.get(required) else { return };
    let before = path::list(before, "nodeSelectorTerms");
    let terms = new.child(required).child("nodeSelectorTerms");
    let after = terms.items();
    let print = |term: &Value| shown::go("core.NodeSelectorTerm", term);
    if !before.is_empty() && before.len() != after.len() {
        let shown: Vec<String> = after.iter().map(|term| print(term.value())).collect();
        let shown =
            if terms.is_given() { format!("[{}]", shown.join(",")) } else { "null".to_owned() };
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(terms.invalid_as(shown, detail));
        return;
    }
    for (new, old) in after.iter().zip(before) {
        if !only_adds(new.value(), old) {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.push(new.invalid_as(print(new.value()), detail));
        }
    }
}

fn only_adds(new: &Value, old: &Value) -> bool {
    let lists = ["matchExpressions", "matchFields"];
    let is_empty = |term| lists.iter().all(|list| path::list(term, list).is_empty());
    let keeps = |list: &&str| path::list(new, list).starts_with(path::list(old, list));
    (!is_empty(old) || is_empty(new)) && lists.iter().all(keeps)
}
