//! Validation of new and changed objects: metadata, the rules of the type, and how often an error is reported.
//!
//! The rules of single types are elsewhere: `builtin::validate`, `crd`, and the schemas of custom resources.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    metadata_checks::{self, MetadataCheck},
    part::part_of,
    peculiar::name_rule,
    scaling,
};
use crate::{
    admission, builtin,
    certificates::{self, is_signing_request},
    crd,
    resource::{Origin, Resource, Subresource},
    schema::{FieldError, FieldPath, metadata, name_rule},
    status::{Result, StatusError},
};

/// Validates a new object.
pub(super) fn validate_create(resource: &Resource, object: &Value) -> Result<()> {
    refuse(resource, object, &type_errors(resource, object))?;
    let metadata = metadata_checks::of_new(resource, object, name_rule(resource));
    let is_last = metadata_checks::is_last(resource);
    let mut errors = if is_last { Vec::new() } else { metadata.clone() };
    errors.extend(metadata_checks::event_error(resource, object));
    errors.extend(match &resource.origin {
        Origin::BuiltIn(_) if is_signing_request(resource) => certificates::validate_create(object),
        Origin::BuiltIn(builtin) => builtin::validate_create(builtin, object),
        Origin::Definition => crd::validate(object),
        Origin::Custom(custom) => custom.validator().validate(object, None),
    });
    errors.extend(scaling::errors(resource, object));
    if let Origin::Custom(custom) = &resource.origin {
        errors.extend(custom.rule_errors(&errors, object, None));
    }
    errors.extend(configuration_errors(resource, object));
    refuse(resource, object, &errors)?;
    if is_last {
        refuse(resource, object, &metadata)?;
    }
    if is_signing_request(resource) { certificates::restrict(resource, object) } else { Ok(()) }
}

/// Validates a changed object.
pub(super) fn validate_update(
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &Value,
) -> Result<()> {
    // What is checked for all types, and again by the validation of a type.
    let mut errors = metadata::validate_create(next, resource.namespaced, name_rule::path_segment);
    errors.extend(metadata::validate_update(next, live));
    let types = type_errors(resource, next);
    if !types.is_empty() {
        errors.extend(types);
        return refuse(resource, next, &errors);
    }
    if let Origin::BuiltIn(builtin) = resource.origin
        && metadata_checks::is_new_first(resource, subresource)
    {
        errors.extend(metadata_checks::of_new(resource, next, name_rule(resource)));
        errors.extend(builtin::validate_create(builtin, next));
        errors.extend(metadata_checks::of_change(resource, next, live));
        errors.extend(builtin::validate_change(builtin, next, live));
        return refuse(resource, next, &errors);
    }
    let checks = metadata_checks::of_type(resource, subresource);
    errors.extend(checks.iter().flat_map(|check| match check {
        MetadataCheck::New => metadata_checks::of_new(resource, next, name_rule(resource)),
        MetadataCheck::Change => metadata_checks::of_change(resource, next, live),
        MetadataCheck::PlainChange => metadata::validate_update(next, live),
    }));
    errors.extend(metadata_checks::event_error(resource, next));
    errors.extend(match (&resource.origin, subresource) {
        (Origin::BuiltIn(_), _) if is_signing_request(resource) => {
            certificates::validate_update(next, live, subresource)
        }
        (Origin::BuiltIn(builtin), Subresource::Status) => {
            builtin::validate_status(builtin, next, live)
        }
        (Origin::BuiltIn(builtin), part) if part_of(part).is_some() => {
            part_of(part).map(|part| builtin::validate_part(part, next, live)).unwrap_or_default()
        }
        (Origin::Definition, Subresource::Status) => crd::validate_status(next),
        (_, Subresource::Finalize) => Vec::new(),
        (Origin::BuiltIn(builtin), _) => builtin::validate_update(builtin, next, live),
        (Origin::Definition, _) => crd::validate_update(next, live),
        (Origin::Custom(custom), Subresource::Status) => custom.status_errors(next, live),
        (Origin::Custom(custom), _) => custom.validator().validate(next, Some(live)),
    });
    if subresource == Subresource::Status {
        errors.extend(scaling::status_errors(resource, next));
    } else {
        errors.extend(scaling::errors(resource, next));
    }
    if let Origin::Custom(custom) = &resource.origin {
        errors.extend(custom.rule_errors(&errors, next, Some(live)));
    }
    errors.extend(configuration_errors(resource, next));
    refuse(resource, next, &errors)
}

/// What is wrong with the expressions of a configuration of admission.
fn configuration_errors(resource: &Resource, object: &Value) -> Vec<FieldError> {
    if resource.id.group != "admissionregistration.k8s.io" {
        return Vec::new();
    }
    admission::configuration_errors(&resource.kind, object)
}

/// What is wrong with the type of a custom object; then nothing else is looked at.
fn type_errors(resource: &Resource, object: &Value) -> Vec<FieldError> {
    if !resource.is_custom() {
        return Vec::new();
    }
    let expected = [("kind", resource.kind.clone()), ("apiVersion", resource.api_version())];
    let wrong = expected.into_iter().filter(|(field, expected)| object[field] != expected.as_str());
    wrong
        .map(|(field, expected)| {
            let detail = format!("must be {expected}");
            FieldError::invalid(&FieldPath::new(field), &object[field], detail)
        })
        .collect()
}

/// The real server does so since 1.37, where it looks which errors the declarations of a type find, too.
fn without_repetitions(errors: &[FieldError]) -> Vec<FieldError> {
    let mut seen = BTreeSet::new();
    errors.iter().filter(|error| seen.insert(error.to_string())).cloned().collect()
}

/// The refusal of an object with errors.
pub(super) fn refuse(resource: &Resource, object: &Value, errors: &[FieldError]) -> Result<()> {
    if errors.is_empty() {
        return Ok(());
    }
    let errors = match resource.origin {
        Origin::BuiltIn(_) => without_repetitions(errors),
        Origin::Definition | Origin::Custom(_) => errors.to_vec(),
    };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or(&resource.kind);
    // The real server takes events of both groups for those of the core group.
    let group = Some(resource.id.group.as_str()).filter(|group| *group != "events.k8s.io");
    Err(StatusError::invalid(group.unwrap_or_default(), kind, name, &errors))
}
