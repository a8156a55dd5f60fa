//! Persistent volumes: capacity, access, where they are, and their one source.

use super::{
    super::{
        Quantity,
        field::{Errors, Field},
        immutable, node_selector, shown,
    },
    source::{self, Of},
};
use crate::schema::{FieldError, FieldPath, name_rule};

/// How a volume may be used, by one or many.
pub(super) const ACCESS_MODES: [&str; 4] =
    ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// The sources in the order of their checks.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

/// The specification of the volume of this name.
pub(in super::super) fn spec(spec: &Field, name: &str, errors: &mut Errors) {
    access_modes(&spec.child("accessModes"), "", errors);
    capacity(&spec.child("capacity"), errors);
    let policy = spec.string("persistentVolumeReclaimPolicy");
    if !policy.is_empty() {
        policy.is_one_of(&["Delete", "Recycle", "Retain"], errors);
    }
    let affinity = spec.given("nodeAffinity");
    if let Some(affinity) = &affinity {
        node_affinity(affinity, errors);
    }
    sources(spec, name, affinity.is_some(), errors);
    let host = spec.child("hostPath").string("path");
    if policy.text() == "Recycle" && is_root(host.text()) {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        errors.push(policy.forbidden(detail));
    }
    spec.string("storageClassName").follows_unless_empty(name_rule::dns_subdomain, errors);
    if let Some(mode) = spec.given("volumeMode") {
        mode.is_one_of(&["Block", "Filesystem"], errors);
    }
    attributes_class(spec, errors);
}

/// The specification of a volume that has no object of its own.
pub(in super::super) fn inline(spec: &Field, errors: &mut Errors) {
    let detail = "may not be specified in the context of inline volumes";
    for field in ["claimRef", "capacity"] {
        if !spec.child(field).is_empty() {
            errors.push(spec.child(field).forbidden(detail));
        }
    }
    if spec.given("csi").is_none() {
        let detail = "has to be specified in the context of inline volumes";
        errors.push(spec.child("csi").required(detail));
    }
    access_modes(&spec.child("accessModes"), "", errors);
    let policy = spec.string("persistentVolumeReclaimPolicy");
    if !matches!(policy.text(), "" | "Retain") {
        errors.push(policy.forbidden("may only be Retain in the context of inline volumes"));
    }
    if let Some(affinity) = spec.given("nodeAffinity") {
        errors.push(affinity.forbidden(detail));
    }
    sources(spec, "", false, errors);
    if !spec.string("storageClassName").is_empty() {
        errors.push(spec.child("storageClassName").forbidden(detail));
    }
    if spec.given("volumeMode").is_some_and(|mode| mode.text() != "Filesystem") {
        let detail = "may not specify volumeMode other than Filesystem in the context of inline \
                      volumes";
        errors.push(spec.child("volumeMode").forbidden(detail));
    }
}

/// The source and the mode of a volume never change.
pub(in super::super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let (new, old) = (new.child("spec"), old.child("spec"));
    let changed = SOURCES.iter().any(|source| {
        let (mut after, before) = (new.child(source).value().clone(), old.child(source).value());
        let secret = "controllerExpandSecretRef";
        if before.is_object() && before.get(secret).is_none() {
            crate::builtin::path::remove(&mut after, secret);
        }
        after != *before
    });
    if changed {
        let at = FieldPath::new("spec.persistentvolumesource");
        let difference = shown::difference("core.PersistentVolumeSource", old.value(), new.value());
        let detail =
            format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        errors.push(FieldError::forbidden(&at, detail));
    }
    let mode = |spec: &Field| spec.child("volumeMode").value().clone();
    if mode(&new) != mode(&old) {
        let field = new.child("volumeMode").named(FieldPath::new("volumeMode"));
        errors.push(field.invalid(immutable::DETAIL));
    }
    let (place, before) = (new.child("nodeAffinity"), old.child("nodeAffinity"));
    if before.is_given() && place.value() != before.value() {
        let detail = "field is immutable, except for updating from beta label to GA";
        let print = shown::go("*core.VolumeNodeAffinity", place.value());
        errors.push(place.named(FieldPath::new("nodeAffinity")).invalid_as(print, detail));
    }
    let class = "volumeAttributesClassName";
    if old.given(class).is_some() && new.given(class).is_none() {
        errors.push(new.child(class).forbidden("update from non-nil value to nil is forbidden"));
    }
}

/// Access modes, at least one, and one that excludes the others.
pub(in super::super) fn access_modes(modes: &Field, detail: &str, errors: &mut Errors) {
    modes.is_required(detail, errors);
    let given = modes.items();
    for mode in given.iter().filter(|mode| !ACCESS_MODES.contains(&mode.text())) {
        errors.push(mode.named(modes.at().clone()).not_supported(&ACCESS_MODES));
    }
    let is_one = |mode: &&Field| mode.text() == "ReadWriteOncePod";
    let is_other = |mode: &&Field| ACCESS_MODES.contains(&mode.text()) && !is_one(mode);
    if given.iter().any(|mode| is_one(&mode)) && given.iter().any(|mode| is_other(&mode)) {
        errors.push(modes.forbidden("may not use ReadWriteOncePod with other access modes"));
    }
}

fn capacity(capacity: &Field, errors: &mut Errors) {
    capacity.is_required("", errors);
    let amounts = capacity.entries();
    if !matches!(amounts.as_slice(), [("storage", _)]) {
        errors.push(capacity.not_supported(&["storage"]));
    }
    for (_, amount) in amounts {
        let Some(quantity) = amount.quantity() else { continue };
        if quantity.is_negative() {
            let shown = quantity.rounded().to_string();
            errors.push(amount.invalid_as(shown, "must be a valid resource quantity"));
        }
        if !Quantity::is_positive(quantity) {
            errors.push(amount.invalid("must be greater than zero"));
        }
    }
}

fn node_affinity(affinity: &Field, errors: &mut Errors) {
    if let Some(required) = affinity.given("required") {
        node_selector::selector(&required, errors);
    } else {
        let detail = "must specify required node constraints";
        errors.push(affinity.child("required").required(detail));
    }
}

fn sources(spec: &Field, name: &str, has_affinity: bool, errors: &mut Errors) {
    let mut found = false;
    for kind in SOURCES {
        let Some(volume) = spec.given(kind) else { continue };
        // The real server takes a flex volume beside another.
        if found && kind != "flexVolume" {
            let at = if kind == "cephfs" { spec.at().child("cephFS") } else { volume.at().clone() };
            errors.push(FieldError::forbidden(&at, "may not specify more than 1 volume type"));
            continue;
        }
        found = true;
        if kind == "csi" {
            csi(&volume, errors);
        } else if kind == "gcePersistentDisk" {
            let volume = volume.named(spec.at().child("persistentDisk"));
            source::check(kind, &volume, Of::PersistentVolume(name), errors);
        } else {
            source::check(kind, &volume, Of::PersistentVolume(name), errors);
        }
        if kind == "local" && !has_affinity {
            let detail = "Local volume requires node affinity";
            errors.push(spec.child("nodeAffinity").required(detail));
        }
    }
    if !found {
        errors.push(spec.required("must specify a volume type"));
    }
}

fn csi(volume: &Field, errors: &mut Errors) {
    source::driver(&volume.string("driver"), errors);
    volume.string("volumeHandle").is_required("", errors);
    for secret in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let Some(secret) = volume.given(secret) else { continue };
        let (name, namespace) = (secret.string("name"), secret.string("namespace"));
        name.is_required("", errors);
        name.follows_unless_empty(name_rule::dns_subdomain, errors);
        namespace.is_required("", errors);
        namespace.follows_unless_empty(name_rule::dns_label, errors);
    }
}

fn attributes_class(spec: &Field, errors: &mut Errors) {
    let Some(class) = spec.given("volumeAttributesClassName") else { return };
    class.is_required("an empty string is disallowed", errors);
    class.follows_unless_empty(name_rule::dns_subdomain, errors);
    if spec.given("csi").is_none() {
        let detail = "has to be specified when using volumeAttributesClassName";
        errors.push(spec.child("csi").required(detail));
    }
}

/// Whether a path is `/`, however it is written.
fn is_root(path: &str) -> bool {
    path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "."))
}
