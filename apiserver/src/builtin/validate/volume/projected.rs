//! Volumes that gather files from several places, and the files of one place.

use std::collections::BTreeSet;

use super::{
    super::{
        field::{Errors, Field},
        name, selector,
    },
    downward, path,
};
use crate::schema::{go_value::quote, name_rule};

const KINDS: [&str; 6] = [
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
];

/// A projected volume: no two sources give the same file.
pub(super) fn volume(volume: &Field, errors: &mut Errors) {
    path::mode(&volume.child("defaultMode"), errors);
    let mut known = BTreeSet::new();
    for source in volume.child("sources").items() {
        one(volume, &source, &mut known, errors);
    }
}

/// A key of a map and the file that it becomes.
pub(super) fn key_to_path(item: &Field, errors: &mut Errors) {
    item.string("key").is_required("", errors);
    let file = item.string("path");
    file.is_required("", errors);
    path::not_reserved(&file, errors);
    path::mode(&item.child("mode"), errors);
}

/// A file with a field of the pod.
pub(super) fn file(file: &Field, errors: &mut Errors) {
    let at = file.string("path");
    at.is_required("", errors);
    path::not_reserved(&at, errors);
    match (file.given("fieldRef"), file.given("resourceFieldRef")) {
        (Some(field), resource) => {
            downward::field(&field, &downward::OF_FILES, errors);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(file.invalid_as(quote("resource"), detail));
            }
        }
        (None, Some(resource)) => downward::resource(&resource, true, errors),
        (None, None) => {
            errors.push(file.required("one of fieldRef and resourceFieldRef is required"));
        }
    }
    path::mode(&file.child("mode"), errors);
}

fn one<'a>(volume: &Field, source: &Field<'a>, known: &mut BTreeSet<&'a str>, errors: &mut Errors) {
    for kind in ["secret", "configMap"] {
        let Some(map) = source.given(kind) else { continue };
        let name = map.string("name");
        name.is_required("", errors);
        for item in map.child("items").items() {
            key_to_path(&item, errors);
            let path = item.string("path").text();
            // The real server shows the name of the map.
            claim_path(volume, known, path, name.text(), errors);
        }
    }
    if let Some(fields) = source.given("downwardAPI") {
        for item in fields.child("items").items() {
            // The real server leaves the items out of the path.
            file(&item.named(fields.at().clone()), errors);
            let path = item.string("path").text();
            claim_path(volume, known, path, path, errors);
        }
    }
    if let Some(token) = source.given("serviceAccountToken") {
        service_account_token(volume, &token, errors);
    }
    if let Some(bundle) = source.given("clusterTrustBundle") {
        trust_bundle(&bundle, errors);
        let path = bundle.string("path").text();
        if !known.insert(path) {
            errors.push(volume.invalid_as(quote(path), "conflicting duplicate paths"));
        }
    }
    if let Some(certificate) = source.given("podCertificate") {
        pod_certificate(volume, &certificate, known, errors);
    }
    if KINDS.iter().filter(|kind| source.given(kind).is_some()).count() > 1 {
        let detail = "may not specify more than 1 volume type per source";
        errors.push(source.forbidden(detail));
    }
}

/// Notes a file, unless another source has it.
fn claim_path<'a>(
    volume: &Field,
    known: &mut BTreeSet<&'a str>,
    path: &'a str,
    shown: &str,
    errors: &mut Errors,
) {
    if !path.is_empty() && !known.insert(path) {
        errors.push(volume.invalid_as(quote(shown), "conflicting duplicate paths"));
    }
}

/// The path of a token is reported at the volume.
fn service_account_token(volume: &Field, token: &Field, errors: &mut Errors) {
    let seconds = token.integer("expirationSeconds");
    if seconds.number() < 600 {
        errors.push(seconds.invalid("may not specify a duration less than 10 minutes"));
    }
    if seconds.number() > 1 << 32 {
        errors.push(seconds.invalid("may not specify a duration larger than 2^32 seconds"));
    }
    let file = token.string("path").named(volume.at().child("path"));
    file.is_required("", errors);
    path::not_reserved(&file, errors);
}

fn trust_bundle(bundle: &Field, errors: &mut Errors) {
    let (name, signer) = (bundle.child("name"), bundle.child("signerName"));
    match (name.is_given(), signer.is_given()) {
        (true, true) => errors.push(bundle.invalid("only one of name and signerName may be used")),
        (true, false) => {
            name.is_required("must be a valid object name", errors);
            for detail in name_rule::dns_subdomain(name.text(), false) {
                errors.push(name.invalid(format!("not a valid clustertrustbundlename: {detail}")));
            }
            if let Some(selector) = bundle.given("labelSelector") {
                let shown = selector::print(selector.value());
                let detail = "labelSelector must be unset if name is specified";
                errors.push(selector.invalid_as(shown, detail));
            }
        }
        (false, true) => {
            signer.is_required("must be a valid signer name", errors);
            name::signer(&signer, errors);
            if let Some(labels) = bundle.given("labelSelector") {
                selector::check(&labels, errors);
            }
        }
        (false, false) => {
            errors.push(bundle.required("either name or signerName must be specified"));
        }
    }
    let file = bundle.string("path");
    file.is_required("", errors);
    path::not_reserved(&file, errors);
}

fn pod_certificate<'a>(
    volume: &Field,
    certificate: &Field<'a>,
    known: &mut BTreeSet<&'a str>,
    errors: &mut Errors,
) {
    const KEY_TYPES: [&str; 6] =
        ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
    let signer = certificate.string("signerName");
    name::signer(&signer, errors);
    let key_type = certificate.string("keyType");
    if !KEY_TYPES.contains(&key_type.text()) {
        errors.push(key_type.not_supported(&KEY_TYPES));
    }
    if let Some(seconds) = certificate.given("maxExpirationSeconds") {
        let is_own = signer.text().split('/').next().is_some_and(|d| d.ends_with("kubernetes.io"));
        let most = if is_own { 86_400 } else { 7_862_400 };
        if seconds.number() < 3600 {
            errors.push(seconds.invalid("if provided, maxExpirationSeconds must be >= 3600"));
        }
        if seconds.number() > most {
            let detail = format!("if provided, maxExpirationSeconds must be <= {most}");
            errors.push(seconds.invalid(detail));
        }
    }
    let files = ["credentialBundlePath", "keyPath", "certificateChainPath"]
        .map(|field| certificate.string(field));
    for file in files.iter().filter(|file| !file.is_empty()) {
        path::not_reserved(file, errors);
        claim_path(volume, known, file.text(), file.text(), errors);
    }
    if files.iter().all(Field::is_empty) {
        let detail =
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        errors.push(certificate.required(detail));
    }
}
