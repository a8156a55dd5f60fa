//! Fields of a pod and of the resources of its containers, as variables and files show them.

use super::super::{
    Quantity,
    field::{Errors, Field},
    name,
};

/// The fields that a variable can show.
pub(in super::super) const OF_VARIABLES: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The fields that a file can show.
pub(super) const OF_FILES: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// All fields that have a label.
const KNOWN: [&str; 14] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// A field of a pod, one of `shown`.
pub(in super::super) fn field(reference: &Field, shown: &[&str], errors: &mut Errors) {
    let version = reference.string("apiVersion");
    if version.is_empty() {
        errors.push(version.required(""));
        return;
    }
    let path = reference.string("fieldPath");
    if path.is_empty() {
        errors.push(path.required(""));
        return;
    }
    if version.text() != "v1" {
        let detail =
            format!("error converting fieldPath: unsupported pod version: {}", version.text());
        errors.push(path.invalid(detail));
        return;
    }
    if let Some((map, key)) = subscripted(path.text()) {
        match map {
            "metadata.labels" => name::qualified(key, reference.at(), errors),
            "metadata.annotations" => {
                name::qualified(&key.to_lowercase(), reference.at(), errors);
            }
            _ => {
                let text = path.text();
                errors.push(path.invalid(format!(
                    "error converting fieldPath: field label does not support subscript: {text}"
                )));
            }
        }
        return;
    }
    let label = if path.text() == "spec.host" { "spec.nodeName" } else { path.text() };
    if !KNOWN.contains(&label) {
        let detail = format!("error converting fieldPath: field label not supported: {label}");
        errors.push(path.invalid(detail));
    } else if !shown.contains(&label) {
        errors.push(path.not_supported(shown));
    }
}

/// A resource of a container; a file has to say of which.
pub(in super::super) fn resource(reference: &Field, in_file: bool, errors: &mut Errors) {
    let (container, resource) = (reference.string("containerName"), reference.string("resource"));
    let name = resource.text();
    let of_huge_pages =
        name.starts_with("limits.hugepages-") || name.starts_with("requests.hugepages-");
    if in_file && container.is_empty() {
        errors.push(container.required(""));
    } else if resource.is_empty() {
        errors.push(resource.required(""));
    } else if !RESOURCES.contains(&name) && !of_huge_pages {
        errors.push(resource.not_supported(&RESOURCES));
    }
    divisor(reference, name, of_huge_pages, errors);
}

fn divisor(reference: &Field, name: &str, of_huge_pages: bool, errors: &mut Errors) {
    let divisor = reference.child("divisor");
    let Some(quantity) = divisor.quantity().filter(|q| q.compare(Quantity::whole(0)).is_ne())
    else {
        return;
    };
    let (supported, of): (&[&str], _) = match name {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "cpu"),
        "limits.memory" | "requests.memory" => (UNITS, "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (UNITS, "local ephemeral storage")
        }
        _ if of_huge_pages => (UNITS, "hugepages"),
        _ => return,
    };
    if supported.contains(&quantity.to_string().as_str()) {
        return;
    }
    let list = if of == "cpu" { "1m and 1".to_owned() } else { UNITS.join(", ") };
    let detail = format!("only divisor's values {list} are supported with the {of} resource");
    errors.push(divisor.invalid_as(crate::schema::go_value::quote(name), detail));
}

const UNITS: &[&str] =
    &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// `metadata.labels['key']`.
fn subscripted(path: &str) -> Option<(&str, &str)> {
    let (map, key) = path.strip_suffix("']")?.split_once("['")?;
    (!map.is_empty()).then_some((map, key))
}
