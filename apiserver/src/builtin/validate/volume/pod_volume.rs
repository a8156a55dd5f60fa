//! The volumes of a pod: each has a name and one source.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    super::{
        config,
        field::{Errors, Field},
        selector,
    },
    claim, path, projected,
    source::{self, Of},
};
use crate::{quantity::Quantity, schema::name_rule};

/// The volumes without errors, by name: those that can be mounted.
pub(in super::super) type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// The sources in the order of their checks.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// The volumes of a pod of this name; that of a template is empty.
pub(in super::super) fn volumes<'a>(
    list: &Field<'a>,
    pod: &str,
    is_pod: bool,
    errors: &mut Errors,
) -> Volumes<'a> {
    let is_created = |volume: &Field| !pod.is_empty() && volume.given("ephemeral").is_some();
    let created: BTreeSet<String> = list
        .items()
        .iter()
        .filter(|volume| is_created(volume))
        .map(|volume| format!("{pod}-{}", volume.string("name").text()))
        .collect();
    let mut known = Volumes::new();
    for volume in list.items() {
        let (before, name) = (errors.len(), volume.string("name"));
        one_source(&volume, pod, is_pod, errors);
        name.is_required("", errors);
        name.follows_unless_empty(name_rule::dns_label, errors);
        if known.contains_key(name.text()) {
            errors.push(name.duplicate());
        }
        if errors.len() == before {
            known.insert(name.text(), volume.value());
        }
        let claim = volume.child("persistentVolumeClaim").string("claimName");
        if created.contains(claim.text()) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.push(claim.invalid(detail));
        }
    }
    known
}

fn one_source(volume: &Field, pod: &str, is_pod: bool, errors: &mut Errors) {
    let mut sources = SOURCES.iter().filter_map(|kind| Some((*kind, volume.given(kind)?)));
    let Some((kind, first)) = sources.next() else {
        errors.push(volume.required("must specify a volume type"));
        return;
    };
    check(kind, &first, errors);
    match kind {
        "ephemeral" if !pod.is_empty() => claim_name(volume, pod, errors),
        "image" => {
            let reference = first.string("reference");
            if is_pod {
                reference.is_required("", errors);
            }
            pull_policy(&first.string("pullPolicy"), errors);
        }
        _ => {}
    }
    for (_, extra) in sources {
        errors.push(extra.forbidden("may not specify more than 1 volume type"));
    }
}

fn check(kind: &str, source: &Field, errors: &mut Errors) {
    match kind {
        "emptyDir" => {
            let limit = source.child("sizeLimit");
            if limit.quantity().is_some_and(Quantity::is_negative) {
                errors.push(limit.forbidden("SizeLimit field must be a valid resource quantity"));
            }
        }
        "secret" | "configMap" => {
            let name = if kind == "secret" { "secretName" } else { "name" };
            source.string(name).is_required("", errors);
            path::mode(&source.child("defaultMode"), errors);
            for item in source.child("items").items() {
                projected::key_to_path(&item, errors);
            }
        }
        "downwardAPI" => {
            path::mode(&source.child("defaultMode"), errors);
            for file in source.child("items").items() {
                projected::file(&file.named(source.at().clone()), errors);
            }
        }
        "projected" => projected::volume(source, errors),
        "csi" => csi(source, errors),
        "ephemeral" => ephemeral(source, errors),
        _ => source::check(kind, source, Of::Pod, errors),
    }
}

fn csi(volume: &Field, errors: &mut Errors) {
    source::driver(&volume.string("driver"), errors);
    let Some(secret) = volume.given("nodePublishSecretRef") else { return };
    let name = secret.string("name");
    name.is_required("", errors);
    // The real server names another place here.
    name.named(volume.at().child("name")).follows_unless_empty(name_rule::dns_subdomain, errors);
}

fn ephemeral(volume: &Field, errors: &mut Errors) {
    let template = volume.child("volumeClaimTemplate");
    if !template.is_given() {
        errors.push(template.required(""));
        return;
    }
    let metadata = template.child("metadata");
    config::annotations(&metadata.child("annotations"), errors);
    selector::labels(&metadata.child("labels"), errors);
    for (field, _) in metadata.entries() {
        if !matches!(field, "annotations" | "labels" | "creationTimestamp") {
            errors.push(metadata.child(field).forbidden("cannot be set"));
        }
    }
    claim::spec(&template.child("spec"), errors);
}

/// The claim that is created for an ephemeral volume has a name too.
fn claim_name(volume: &Field, pod: &str, errors: &mut Errors) {
    let name = volume.string("name");
    if name.is_empty() {
        return;
    }
    let claim = format!("{pod}-{}", name.text());
    for detail in name_rule::dns_subdomain(&claim, false) {
        errors.push(name.invalid(format!("PVC name \"{claim}\": {detail}")));
    }
}

/// When an image is fetched.
pub(in super::super) fn pull_policy(policy: &Field, errors: &mut Errors) {
    policy.is_required("", errors);
    if !policy.is_empty() {
        policy.is_one_of(&["Always", "IfNotPresent", "Never"], errors);
    }
}
