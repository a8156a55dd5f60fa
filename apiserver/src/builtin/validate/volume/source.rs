//! The sources of volumes, as pods and persistent volumes have them: what each needs.

use super::{
    super::field::{Errors, Field},
    path,
};
use crate::schema::{FieldError, name_rule};

/// Whether a source is of a pod or of a persistent volume, which may name a namespace.
#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum Of<'a> {
    Pod,
    /// With its name.
    PersistentVolume(&'a str),
}

/// The fields that must not be empty, by source.
const REQUIRED: &[(&str, &[&str])] = &[
    ("gitRepo", &["repository"]),
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("persistentVolumeClaim", &["claimName"]),
    ("nfs", &["server", "path"]),
    ("glusterfs", &["endpoints", "path"]),
    ("rbd", &["monitors", "image"]),
    ("cinder", &["volumeID"]),
    ("cephfs", &["monitors"]),
    ("flexVolume", &["driver"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("azureDisk", &["diskName", "diskURI"]),
];

/// A source that needs nothing but itself.
pub(in super::super) fn check(kind: &str, source: &Field, of: Of, errors: &mut Errors) {
    let required = REQUIRED.iter().find(|(name, _)| *name == kind);
    for field in required.into_iter().flat_map(|(_, fields)| *fields) {
        source.child(field).is_required("", errors);
    }
    match kind {
        "hostPath" => host_path(source, errors),
        "local" => local(source, errors),
        "gitRepo" => path::descending(&source.string("directory"), errors),
        "gcePersistentDisk" | "awsElasticBlockStore" => partition(source, errors),
        "nfs" => {
            let path = source.string("path");
            if !path.text().starts_with('/') {
                errors.push(path.invalid("must be an absolute path"));
            }
        }
        "iscsi" => iscsi(source, of, errors),
        "glusterfs" => endpoints_namespace(source, errors),
        "flocker" => flocker(source, errors),
        "quobyte" => quobyte(source, errors),
        "fc" => fibre_channel(source, errors),
        "cinder" => secret(source, of, errors),
        "flexVolume" => flex(source, errors),
        "azureFile"
            if source.given("secretNamespace").is_some_and(|namespace| namespace.is_empty()) =>
        {
            errors.push(source.child("secretNamespace").required(""));
        }
        "azureDisk" => azure_disk(source, errors),
        "storageos" => {
            let name = source.string("volumeName");
            name.is_required("", errors);
            name.follows_unless_empty(name_rule::dns_label, errors);
            let namespace = source.string("volumeNamespace");
            namespace.follows_unless_empty(name_rule::dns_label, errors);
            secret(source, of, errors);
        }
        _ => {}
    }
}

/// The name of a CSI driver, whatever its case.
pub(in super::super) fn driver(name: &Field, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(name.required(""));
        return;
    }
    if name.text().len() > 63 {
        errors.push(name.too_long(63));
    }
    let details = name_rule::dns_subdomain(&name.text().to_lowercase(), false);
    errors.extend(details.into_iter().map(|detail| name.invalid(detail)));
}

/// The same, where the type declares it.
pub(in super::super) fn declared_driver(name: &Field, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(name.required(""));
        return;
    }
    if name.text().len() > 63 {
        errors.push(name.too_long(63));
    }
    if !name_rule::dns_subdomain(&name.text().to_lowercase(), false).is_empty() {
        let detail = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', \
                      and must start and end with an alphanumeric character (e.g. 'Example.com', \
                      regex used for validation is \
                      '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        errors.push(name.invalid(detail));
    }
}

/// The secret of a source; that of a persistent volume is in a namespace.
fn secret(source: &Field, of: Of, errors: &mut Errors) {
    let Some(secret) = source.given("secretRef") else { return };
    secret.string("name").is_required("", errors);
    if of != Of::Pod {
        secret.string("namespace").is_required("", errors);
    }
}

fn host_path(source: &Field, errors: &mut Errors) {
    const TYPES: [&str; 8] = [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    local(source, errors);
    let ty = source.child("type");
    if ty.is_given() && !source.string("path").is_empty() {
        ty.is_one_of(&TYPES, errors);
    }
}

fn local(source: &Field, errors: &mut Errors) {
    let path = source.string("path");
    path.is_required("", errors);
    path::no_backsteps(&path, errors);
}

/// The real server takes 0 and says that it does not.
fn partition(source: &Field, errors: &mut Errors) {
    let partition = source.integer("partition");
    if !(0..=255).contains(&partition.number()) {
        errors.push(partition.invalid("must be between 1 and 255, inclusive"));
    }
}

fn iscsi(source: &Field, of: Of, errors: &mut Errors) {
    let portal = source.string("targetPortal");
    portal.is_required("", errors);
    let initiator = source.given("initiatorName");
    if let Of::PersistentVolume(name) = of
        && initiator.is_some()
        && format!("{name}:{}", portal.text()).len() > 64
    {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 \
                      characters if iscsi.initiatorName is specified.";
        errors.push(portal.named(source.at().child("targetportal")).invalid(detail));
    }
    let name = source.string("iqn");
    name.is_required("", errors);
    if !name.is_empty() {
        errors.extend(iscsi_name(name.text(), of).map(|detail| name.invalid(detail)));
    }
    source.integer("lun").is_within(0, 255, errors);
    let is_authenticated = ["chapAuthDiscovery", "chapAuthSession"];
    if is_authenticated.iter().any(|field| source.child(field).flag())
        && source.given("secretRef").is_none()
    {
        errors.push(source.child("secretRef").required(""));
    }
    if let (Some(secret), Of::PersistentVolume(_)) = (source.given("secretRef"), of) {
        secret.string("name").is_required("", errors);
    }
    if let Some(initiator) = initiator {
        let initiator = initiator.named(source.at().child("initiatorname"));
        errors.extend(iscsi_name(initiator.text(), of).map(|detail| initiator.invalid(detail)));
    }
}

/// What is wrong with the name of an iSCSI node.
fn iscsi_name(name: &str, of: Of) -> Option<&'static str> {
    let is_alphanumeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let coded = |length: usize| {
        name.len() == length && name.is_char_boundary(4) && is_alphanumeric(&name[4..])
    };
    let is_right = match name.get(..3) {
        Some("iqn") => is_qualified_iscsi_name(name),
        Some("eui") => coded(20),
        Some("naa") => coded(36),
        _ if of == Of::Pod => return Some("must be valid format starting with iqn, eui, or naa"),
        _ => false,
    };
    (!is_right).then_some("must be valid format")
}

/// `iqn.2024-01.com.example:storage`.
fn is_qualified_iscsi_name(name: &str) -> bool {
    let Some((authority, target)) = name.split_once(':') else { return false };
    let bytes = authority.as_bytes();
    let digits = |from: usize, to: usize| {
        bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is_dated = digits(4, 8) && digits(9, 11);
    let has_separators =
        bytes.get(3) == Some(&b'.') && bytes.get(8) == Some(&b'-') && bytes.get(11) == Some(&b'.');
    let domain = bytes.get(12..).unwrap_or_default();
    let is_domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let is_target = |c: char| !matches!(c, ',' | ';' | '*' | '&' | '$' | '|') && !c.is_whitespace();
    is_dated
        && has_separators
        && !domain.is_empty()
        && domain.iter().all(is_domain)
        && !target.is_empty()
        && target.chars().all(is_target)
}

fn endpoints_namespace(source: &Field, errors: &mut Errors) {
    let Some(namespace) = source.given("endpointsNamespace") else { return };
    if namespace.is_empty() {
        let detail = "if the endpointnamespace is set, it must be a valid namespace name";
        errors.push(namespace.invalid(detail));
    }
    namespace.follows_unless_empty(name_rule::dns_label, errors);
}

fn flocker(source: &Field, errors: &mut Errors) {
    let (name, uuid) = (source.string("datasetName"), source.string("datasetUUID"));
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => {
            errors.push(source.required("one of datasetName and datasetUUID is required"));
        }
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.push(source.invalid_as("\"resource\"".to_owned(), detail));
        }
        _ => {}
    }
    if name.text().contains('/') {
        errors.push(name.invalid("must not contain '/'"));
    }
}

fn quobyte(source: &Field, errors: &mut Errors) {
    let (registry, tenant) = (source.string("registry"), source.string("tenant"));
    let detail = "must be a host:port pair or multiple pairs separated by commas";
    if registry.is_empty() {
        errors.push(registry.required(detail));
    } else if tenant.text().len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(tenant.required(detail));
    } else {
        let is_pair = |pair: &&str| {
            let is_name =
                |host: &str| host.starts_with('[') && host.ends_with(']') || !host.contains(':');
            pair.rsplit_once(':').is_some_and(|(host, _)| is_name(host))
        };
        for _ in registry.text().split(',').filter(|pair| !is_pair(pair)) {
            errors.push(registry.invalid(detail));
        }
    }
    source.string("volume").is_required("", errors);
}

fn fibre_channel(source: &Field, errors: &mut Errors) {
    let (targets, ids) = (source.child("targetWWNs"), source.child("wwids"));
    if targets.is_empty() && ids.is_empty() {
        errors.push(targets.required("must specify either targetWWNs or wwids, but not both"));
    }
    if !targets.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        errors.push(targets.invalid(detail));
    }
    if targets.is_empty() {
        return;
    }
    if let Some(lun) = source.given("lun") {
        lun.is_within(0, 255, errors);
    } else {
        let detail = "lun is required if targetWWNs is specified";
        errors.push(source.child("lun").required(detail));
    }
}

/// The options of a driver are not those of Kubernetes itself.
fn flex(source: &Field, errors: &mut Errors) {
    for (key, option) in source.child("options").entries() {
        let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(FieldError::invalid(option.at(), &key.into(), detail));
        }
    }
}

fn azure_disk(source: &Field, errors: &mut Errors) {
    if let Some(mode) = source.given("cachingMode") {
        mode.is_one_of(&["None", "ReadOnly", "ReadWrite"], errors);
    }
    let Some(kind) = source.given("kind") else { return };
    kind.is_one_of(&["Dedicated", "Managed", "Shared"], errors);
    let (start, form) = if kind.text() == "Managed" {
        let form = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/\
                    microsoft.compute/disks/{disk-id}";
        ("/subscriptions/", form)
    } else {
        let form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
        ("https://", form)
    };
    let disk = source.string("diskURI");
    if !disk.text().starts_with(start) {
        errors.push(disk.not_supported(&[form]));
    }
}
