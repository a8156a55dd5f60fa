//! The CRD of a Rust type, or the one that a program brings along.

use std::{any::Any, panic};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::error::ManifestError;
use crate::operator::Definition;

pub(super) fn made(definition: &Definition) -> Result<CustomResourceDefinition, ManifestError> {
    match definition {
        Definition::Derived { rust_type, make } => derived(rust_type, *make),
        Definition::Given(crd) => Ok(CustomResourceDefinition::clone(crd)),
    }
}

/// A schema that kube cannot change to one of a CRD makes it panic.
pub(super) fn derived(
    rust_type: &str,
    make: fn() -> CustomResourceDefinition,
) -> Result<CustomResourceDefinition, ManifestError> {
    panic::catch_unwind(make).map_err(|panicked| ManifestError::Schema {
        name: rust_type.to_owned(),
        why: format!(
            "{}. Of an enum with `#[serde(tag = ..)]` no CRD can be made: leave the tag out, so that each variant is a \
             field of its own, or use a struct with a field for the kind",
            said(&*panicked)
        ),
    })
}

fn said(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panicked.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "it panicked".to_owned())
}
