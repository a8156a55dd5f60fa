//! Near which nodes and pods a pod wants to be, and how much.

use std::collections::BTreeSet;

use super::super::{
    field::{Errors, Field},
    node_selector, selector,
};
use crate::schema::name_rule;

/// The affinities of a pod.
pub(super) fn affinity(affinity: &Field, errors: &mut Errors) {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let nodes = affinity.child("nodeAffinity");
    if let Some(selector) = nodes.given(required) {
        node_selector::selector(&selector, errors);
    }
    for term in nodes.child(preferred).items() {
        weight(&term, errors);
        node_selector::preference(&term.child("preference"), errors);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.child(kind);
        for term in pods.child(required).items() {
            pod_term(&term, errors);
        }
        for term in pods.child(preferred).items() {
            weight(&term, errors);
            pod_term(&term.child("podAffinityTerm"), errors);
        }
    }
}

fn weight(term: &Field, errors: &mut Errors) {
    let weight = term.integer("weight");
    if !(1..=100).contains(&weight.number()) {
        errors.push(weight.invalid("must be in the range 1-100"));
    }
}

fn pod_term(term: &Field, errors: &mut Errors) {
    for selector in ["labelSelector", "namespaceSelector"] {
        if let Some(labels) = term.given(selector) {
            selector::check(&labels, errors);
        }
    }
    // The real server leaves the `s` and the index out.
    for namespace in term.child("namespaces").items() {
        namespace.named(term.at().child("namespace")).follows(name_rule::dns_label, errors);
    }
    label_keys(term, errors);
    let key = term.string("topologyKey");
    key.is_required("can not be empty", errors);
    key.is_qualified(errors);
}

/// Labels of the pod itself that complete the selector.
pub(super) fn label_keys(owner: &Field, errors: &mut Errors) {
    let (matching, other) = (owner.child("matchLabelKeys"), owner.child("mismatchLabelKeys"));
    let selector = owner.given("labelSelector");
    for keys in [&matching, &other] {
        if keys.is_empty() {
            continue;
        }
        if selector.is_none() {
            errors.push(keys.forbidden("must not be specified when labelSelector is not set"));
            continue;
        }
        for key in keys.items() {
            key.is_qualified(errors);
        }
    }
    if let Some(selector) = selector {
        twice(owner, &matching, &selector, errors);
    }
    let others: BTreeSet<&str> = other.items().iter().map(Field::text).collect();
    for key in matching.items().iter().filter(|key| others.contains(key.text())) {
        errors.push(key.invalid("exists in both matchLabelKeys and mismatchLabelKeys"));
    }
}

/// The selector has an expression for each key already; a second one contradicts it.
fn twice(owner: &Field, keys: &Field, selector: &Field, errors: &mut Errors) {
    let keys: Vec<&str> = keys.items().iter().map(Field::text).collect();
    let labels = selector.child("matchLabels").entries();
    let mut known: BTreeSet<&str> = labels.iter().map(|(key, _)| *key).collect();
    for expression in selector.child("matchExpressions").items() {
        let key = expression.string("key");
        if let Some(index) = keys.iter().rposition(|other| *other == key.text())
            && known.contains(key.text())
        {
            let detail = "exists in both matchLabelKeys and labelSelector";
            errors.push(key.named(owner.at().index(index)).invalid(detail));
        }
        known.insert(key.text());
    }
}
