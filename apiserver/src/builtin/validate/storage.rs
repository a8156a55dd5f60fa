//! Classes, drivers and capacities of storage.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Quantity,
    field::{Errors, Field},
    immutable, name, selector, shown,
    volume::source,
};
use crate::schema::{FieldError, FieldPath, go_value::quote, name_rule};

/// A `StorageClass`.
pub(super) fn class(class: &Field, errors: &mut Errors) {
    provisioner(&class.string("provisioner"), errors);
    parameters(&class.child("parameters"), errors);
    let policy = class.string("reclaimPolicy");
    if !policy.is_empty() {
        policy.is_one_of(&["Delete", "Retain"], errors);
    }
    let mode = class.child("volumeBindingMode");
    if mode.is_given() {
        mode.is_one_of(&["Immediate", "WaitForFirstConsumer"], errors);
    } else {
        errors.push(mode.required(""));
    }
    topologies(&class.child("allowedTopologies"), errors);
}

/// What decides about volumes that exist already never changes.
pub(super) fn class_update(new: &Field, old: &Field, errors: &mut Errors) {
    for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        immutable::declared(new, old, field, errors);
    }
}

/// A `VolumeAttributesClass`.
pub(super) fn attributes_class(class: &Field, errors: &mut Errors) {
    provisioner(&class.string("driverName"), errors);
    let given = class.child("parameters");
    parameters(&given, errors);
    given.is_required("must contain at least one key/value pair", errors);
}

/// Nothing of a `VolumeAttributesClass` changes.
pub(super) fn attributes_class_update(new: &Field, old: &Field, errors: &mut Errors) {
    for field in ["driverName", "parameters"] {
        if new.child(field).value() != old.child(field).value() {
            let detail = format!("updates to {field} are forbidden.");
            errors.push(new.child(field).forbidden(detail));
        }
    }
    attributes_class(new, errors);
}

/// A `VolumeAttachment`.
pub(super) fn attachment(attachment: &Field, errors: &mut Errors) {
    let spec = attachment.child("spec");
    let from = spec.child("source");
    let volume = from.child("persistentVolumeName");
    match (volume.is_given(), from.given("inlineVolumeSpec")) {
        (false, None) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            errors.push(from.required(detail));
        }
        (true, Some(_)) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            errors.push(from.forbidden(detail));
        }
        (true, None) => {
            volume.is_required("must specify non empty persistentVolumeName", errors);
        }
        (false, Some(spec)) => super::volume::persistent::inline(&spec, errors),
    }
    spec.string("nodeName").follows(name_rule::dns_subdomain, errors);
    if volume.is_given() {
        volume.follows(name_rule::dns_subdomain, errors);
    }
    source::declared_driver(&spec.string("attacher"), errors);
}

/// Nothing of an attachment but its status changes.
pub(super) fn attachment_update(new: &Field, old: &Field, errors: &mut Errors) {
    immutable::declared(new, old, "spec", errors);
}

/// A `CSINode`.
pub(super) fn csi_node(spec: &Field, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for driver in spec.child("drivers").items() {
        let (name, id) = (driver.string("name"), driver.string("nodeID"));
        source::driver(&name, errors);
        id.is_required("", errors);
        if id.text().len() > 256 {
            errors.push(id.invalid("must be 256 characters or less"));
        }
        if let Some(count) = driver.child("allocatable").given("count") {
            count.is_not_negative(errors);
        }
        if !names.insert(name.text()) {
            errors.push(name.duplicate());
        }
        let mut keys = BTreeSet::new();
        for key in driver.child("topologyKeys").items() {
            let key = key.named(driver.at().clone());
            key.is_required("", errors);
            if !keys.insert(key.text()) {
                errors.push(key.duplicate());
            }
            name::qualified(key.text(), key.at(), errors);
        }
    }
}

/// A driver of a node changes only in how many volumes it takes.
pub(super) fn csi_node_update(new: &Field, old: &Field, errors: &mut Errors) {
    let drivers = |node: &Field<'_>| {
        let list = node.value().pointer("/spec/drivers").cloned().unwrap_or_default();
        let mut list = list.as_array().cloned().unwrap_or_default();
        for driver in &mut list {
            crate::builtin::path::remove(driver, "allocatable");
        }
        list
    };
    let at = FieldPath::new("spec.drivers");
    for before in drivers(old) {
        for after in drivers(new).iter().filter(|after| after["name"] == before["name"]) {
            if *after != before {
                let error = FieldError::invalid(&at, after, immutable::DETAIL);
                let print = shown::go("storage.CSINodeDriver", after);
                errors.push(FieldError { value: Some(print), ..error });
            }
        }
    }
}

/// A `CSIDriver`. The real server misspells the first field.
pub(super) fn csi_driver(spec: &Field, errors: &mut Errors) {
    let attach = spec.child("attachRequired").named(spec.at().child("attachedRequired"));
    let given = ["podInfoOnMount", "storageCapacity"].map(|name| spec.child(name));
    for field in std::iter::once(&attach).chain(&given) {
        field.is_required("", errors);
    }
    if let Some(policy) = spec.given("fsGroupPolicy") {
        policy.is_one_of(&["File", "None", "ReadWriteOnceWithFSType"], errors);
    }
    token_requests(&spec.child("tokenRequests"), errors);
    let modes = spec.child("volumeLifecycleModes");
    for mode in modes.items() {
        mode.named(modes.at().clone()).is_one_of(&["Persistent", "Ephemeral"], errors);
    }
    spec.child("seLinuxMount").is_required("", errors);
    if let Some(period) = spec.given("nodeAllocatableUpdatePeriodSeconds")
        && period.number() < 10
    {
        errors.push(period.invalid("must be greater than or equal to 10 seconds"));
    }
    if let Some(in_secrets) = spec.given("serviceAccountTokenInSecrets")
        && spec.child("tokenRequests").is_empty()
    {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.push(in_secrets.invalid(detail));
    }
}

/// Whether and how a driver attaches never changes.
pub(super) fn csi_driver_update(new: &Field, old: &Field, errors: &mut Errors) {
    csi_driver(&new.child("spec"), errors);
    let spec = new.child("spec");
    for (field, shown) in
        [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")]
    {
        let after = spec.child(field).named(spec.at().child(shown));
        if after.value() != old.child("spec").child(field).value() {
            errors.push(after.invalid(immutable::DETAIL));
        }
    }
}

/// A `CSIStorageCapacity`.
pub(super) fn capacity(capacity: &Field, errors: &mut Errors) {
    if let Some(topology) = capacity.given("nodeTopology") {
        selector::check(&topology, errors);
    }
    capacity.string("storageClassName").follows(name_rule::dns_subdomain, errors);
    let amount = capacity.child("capacity");
    if amount.quantity().is_some_and(Quantity::is_negative) {
        errors.push(amount.invalid("must be greater than or equal to 0"));
    }
}

/// What was asked for never changes.
pub(super) fn capacity_update(new: &Field, old: &Field, errors: &mut Errors) {
    let topology = new.child("nodeTopology");
    if topology.value() != old.child("nodeTopology").value() {
        let print = topology.is_given().then(|| selector::print(topology.value()));
        let print = print.unwrap_or_else(|| "null".to_owned());
        errors.push(topology.invalid_as(print, immutable::DETAIL));
    }
    immutable::field(new, old, "storageClassName", errors);
}

/// The name of who makes volumes, whatever its case.
fn provisioner(name: &Field, errors: &mut Errors) {
    name.is_required("", errors);
    if name.is_empty() {
        return;
    }
    let lower = name.text().to_lowercase();
    for detail in name_rule::label_key(&lower) {
        errors.push(name.invalid_as(quote(&lower), detail));
    }
}

fn parameters(parameters: &Field, errors: &mut Errors) {
    let entries = parameters.entries();
    if entries.len() > 512 {
        errors.push(parameters.too_long(512));
        return;
    }
    if entries.iter().any(|(key, _)| key.is_empty()) {
        errors.push(parameters.invalid_as(quote(""), "field can not be empty."));
    }
    let size: usize = entries.iter().map(|(key, value)| key.len() + value.text().len()).sum();
    if size > 256 << 10 {
        errors.push(parameters.too_long(256 << 10));
    }
}

/// No two terms select the same.
fn topologies(terms: &Field, errors: &mut Errors) {
    // The real server compares with as many empty terms as there are terms.
    let empty: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut known = vec![empty; terms.len()];
    for term in terms.items() {
        let expressions = term.child("matchLabelExpressions");
        let mut own = BTreeMap::new();
        for expression in expressions.items() {
            let (key, values) = (expression.string("key"), expression.child("values"));
            values.is_required("", errors);
            let mut set = BTreeSet::new();
            for value in values.items() {
                if !set.insert(value.text()) {
                    errors.push(value.duplicate());
                }
            }
            key.is_qualified(errors);
            if own.contains_key(key.text()) {
                errors.push(key.duplicate());
            }
            own.insert(key.text(), set);
        }
        for _ in known.iter().filter(|other| **other == own) {
            let error = expressions.duplicate();
            errors.push(FieldError { value: Some(quote("")), ..error });
        }
        known.push(own);
    }
}

/// Tokens for different audiences.
fn token_requests(requests: &Field, errors: &mut Errors) {
    let mut audiences = BTreeSet::new();
    for request in requests.items() {
        let audience = request.string("audience");
        if !audiences.insert(audience.text()) {
            errors.push(audience.duplicate());
            continue;
        }
        let Some(seconds) = request.given("expirationSeconds") else { continue };
        if seconds.number() < 600 {
            errors.push(seconds.invalid("may not specify a duration less than 10 minutes"));
        }
        if seconds.number() > 1 << 32 {
            errors.push(seconds.invalid("may not specify a duration larger than 2^32 seconds"));
        }
    }
}
