//! Volumes in containers: mounted as folders, or used as block devices.

use std::collections::BTreeSet;

use super::{
    super::{
        field::{Errors, Field},
        name,
        volume::path,
    },
    context::Context,
};

/// The folders of a container; no two are at the same place.
pub(super) fn mounts(pod: &Context, container: &Field, errors: &mut Errors) {
    let list = container.child("volumeMounts");
    let devices = container.child("volumeDevices").items();
    let mut places = BTreeSet::new();
    for mount in list.items() {
        let (volume, place) = (mount.string("name"), mount.string("mountPath"));
        volume.is_required("", errors);
        if !pod.volumes.contains_key(volume.text()) {
            errors.push(name::not_found(&volume, ""));
        }
        place.is_required("", errors);
        if !places.insert(place.text()) {
            errors.push(place.invalid("must be unique"));
        }
        if devices.iter().any(|device| device.string("name").text() == volume.text()) {
            errors.push(volume.invalid("must not already exist in volumeDevices"));
        }
        if devices.iter().any(|device| device.string("devicePath").text() == place.text()) {
            errors.push(place.invalid("must not already exist as a path in volumeDevices"));
        }
        details(container, &list, &mount, errors);
    }
}

/// The real server reports these at the list.
fn details(container: &Field, list: &Field, mount: &Field, errors: &mut Errors) {
    let (sub, expression) = (mount.string("subPath"), mount.string("subPathExpr"));
    path::descending(&sub.named(list.at().child("subPath")), errors);
    if !expression.is_empty() && !sub.is_empty() {
        errors.push(expression.invalid("subPathExpr and subPath are mutually exclusive"));
    }
    path::descending(&expression.named(list.at().child("subPathExpr")), errors);
    if let Some(propagation) = mount.given("mountPropagation") {
        let propagation = propagation.named(list.at().child("mountPropagation"));
        propagation.is_one_of(&["Bidirectional", "HostToContainer", "None"], errors);
        let privileged = container.child("securityContext").child("privileged").flag();
        if propagation.text() == "Bidirectional" && !privileged {
            let detail =
                "Bidirectional mount propagation is available only to privileged containers";
            errors.push(propagation.forbidden(detail));
        }
    }
    let Some(mode) = mount.given("recursiveReadOnly") else { return };
    let mode = mode.named(list.at().child("recursiveReadOnly"));
    match mode.text() {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.child("readOnly").flag() {
                errors.push(mode.forbidden("may only be specified when readOnly is true"));
            }
            if mount.given("mountPropagation").is_some_and(|p| p.text() != "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.push(mode.forbidden(detail));
            }
        }
        _ => errors.push(mode.not_supported(&["Disabled", "Enabled", "IfPossible"])),
    }
}

/// The block devices of a container.
pub(super) fn devices(pod: &Context, container: &Field, errors: &mut Errors) {
    let mounts = container.child("volumeMounts").items();
    let (mut names, mut places) = (BTreeSet::new(), BTreeSet::new());
    for device in container.child("volumeDevices").items() {
        let (volume, place) = (device.string("name"), device.string("devicePath"));
        volume.is_required("", errors);
        if names.contains(volume.text()) {
            errors.push(volume.invalid("must be unique"));
        }
        match pod.volumes.get(volume.text()) {
            None => errors.push(name::not_found(&volume, "")),
            Some(found) => {
                let is_claim = ["persistentVolumeClaim", "ephemeral"]
                    .iter()
                    .any(|kind| found.get(kind).is_some());
                if !is_claim {
                    let detail = "can only use volume source type of PersistentVolumeClaim or \
                                  Ephemeral for block mode";
                    errors.push(volume.invalid(detail));
                }
            }
        }
        place.is_required("", errors);
        if places.contains(place.text()) {
            errors.push(place.invalid("must be unique"));
        }
        if path::has_backsteps(place.text()) {
            errors.push(place.invalid("can not contain backsteps ('..')"));
        } else {
            places.insert(place.text());
        }
        if mounts.iter().any(|mount| mount.string("name").text() == volume.text()) {
            errors.push(volume.invalid("must not already exist in volumeMounts"));
        }
        if mounts.iter().any(|mount| mount.string("mountPath").text() == place.text()) {
            errors.push(place.invalid("must not already exist as a path in volumeMounts"));
        }
        if !volume.is_empty() {
            names.insert(volume.text());
        }
    }
}
