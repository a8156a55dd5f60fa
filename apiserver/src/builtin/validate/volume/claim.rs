//! Claims of persistent volumes: their size, access and class, and what may change once they are bound.

use super::{
    super::{
        field::{Errors, Field},
        immutable, resource_name, selector, shown,
    },
    persistent,
};
use crate::{
    builtin::path,
    quantity::Quantity,
    schema::{FieldError, FieldPath, name_rule},
};

/// The specification of a claim, or of a template of one.
pub(in super::super) fn spec(spec: &Field, errors: &mut Errors) {
    let modes = spec.child("accessModes");
    modes.is_required("at least 1 access mode is required", errors);
    if let Some(labels) = spec.given("selector") {
        selector::check(&labels, errors);
    }
    if !modes.is_empty() {
        persistent::access_modes(&modes, "", errors);
    }
    size(spec, errors);
    spec.string("storageClassName").follows_unless_empty(name_rule::dns_subdomain, errors);
    if let Some(mode) = spec.given("volumeMode") {
        mode.is_one_of(&["Block", "Filesystem"], errors);
    }
    sources(spec, errors);
    let class = spec.string("volumeAttributesClassName");
    class.follows_unless_empty(name_rule::dns_subdomain, errors);
}

fn size(spec: &Field, errors: &mut Errors) {
    let requests = spec.child("resources").child("requests");
    let size = requests.child("storage").named(spec.child("resources").at().key("storage"));
    match size.quantity() {
        None => errors.push(size.required("")),
        Some(quantity) if !quantity.is_positive() => {
            errors.push(size.invalid("must be greater than zero"));
        }
        Some(_) => resource_name::amount("storage", &size, errors),
    }
}

fn sources(spec: &Field, errors: &mut Errors) {
    let (source, reference) = (spec.given("dataSource"), spec.given("dataSourceRef"));
    for given in [&source, &reference].into_iter().flatten() {
        data_source(given, errors);
    }
    let namespace = reference.as_ref().map(|reference| reference.string("namespace"));
    if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
        namespace.follows(name_rule::dns_label, errors);
        if source.is_some() {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            errors.push(spec.invalid_as("{}".to_owned(), detail));
        }
    } else if let (Some(source), Some(reference)) = (source, reference) {
        let same = |name| source.child(name).value() == reference.child(name).value();
        if !["apiGroup", "kind", "name"].into_iter().all(same) {
            errors.push(spec.invalid_as("{}".to_owned(), "must match dataSourceRef"));
        }
    }
}

fn data_source(source: &Field, errors: &mut Errors) {
    source.string("name").is_required("", errors);
    let (kind, group) = (source.string("kind"), source.string("apiGroup"));
    kind.is_required("", errors);
    if group.is_empty() && kind.text() != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.push(kind.named(source.at().clone()).invalid(detail));
    }
    group.follows_unless_empty(name_rule::dns_subdomain, errors);
}

/// The specification is immutable, but a bound claim may grow.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let is_bound = path::text(new.value(), "status.phase") == "Bound";
    let (mut after, mut before) = (new.value().clone(), old.value().clone());
    if path::text(&before, "spec.volumeName").is_empty() {
        path::copy(&mut before, &after, "spec.volumeName");
    }
    if path::get(&before, "spec.storageClassName").is_none() {
        path::copy(&mut after, &before, "spec.storageClassName");
    }
    if is_bound {
        if path::get(&after, "spec.resources.requests").is_some() {
            path::copy(&mut after, &before, "spec.resources.requests.storage");
        }
        path::copy(&mut after, &before, "spec.volumeAttributesClassName");
    }
    if after["spec"] != before["spec"] {
        let detail = "spec is immutable after creation except resources.requests and \
                      volumeAttributesClassName for bound claims";
        let difference =
            shown::difference("core.PersistentVolumeClaimSpec", &before["spec"], &after["spec"]);
        let at = FieldPath::new("spec");
        errors.push(FieldError::forbidden(&at, format!("{detail}\n{difference}")));
    }
    shrinks(new, old, errors);
    let mode = new.child("spec").child("volumeMode").named(FieldPath::new("volumeMode"));
    if mode.value() != old.child("spec").child("volumeMode").value() {
        errors.push(mode.invalid(immutable::DETAIL));
    }
    let (field, current) = ("volumeAttributesClassName", "currentVolumeAttributesClassName");
    let class = new.child("spec").child(field);
    let changed = class.value() != old.child("spec").child(field).value();
    if changed && class.is_empty() && old.child("status").given(current).is_some() {
        let to = if class.is_given() { "empty string" } else { "nil" };
        let detail = format!(
            "update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
        );
        errors.push(class.forbidden(detail));
    }
}

/// A claim may not become smaller than its volume is.
fn shrinks(new: &Field, old: &Field, errors: &mut Errors) {
    let at = "spec.resources.requests.storage";
    let size = |claim: &Field, at| {
        path::get(claim.value(), at).and_then(Quantity::of).unwrap_or(Quantity::whole(0))
    };
    let is_less = size(new, at).compare(size(old, at)).is_lt();
    if is_less && size(new, at).compare(size(old, "status.capacity.storage")).is_le() {
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden(&FieldPath::new(at), detail));
    }
}
