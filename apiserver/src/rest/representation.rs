//! Whether an answer has the representation that is asked for: a list is not the metadata of one object.

use serde_json::Value;

use super::{
    accept::{MetaVersion, Representation},
    kind,
};
use crate::{
    resource::{Origin, Resource},
    status::StatusError,
    table,
};

/// Refuses a list as the metadata of one object.
pub(super) fn check_list(
    resource: &Resource,
    representation: Representation,
) -> Result<(), StatusError> {
    match representation {
        Representation::PartialMetadata(_) => Err(not_acceptable(&format!(
            "you requested PartialObjectMetadata, but the requested object is a list ({})",
            go_type(resource, &resource.list_kind)
        ))),
        _ => Ok(()),
    }
}

/// Refuses one object as the metadata of a list.
pub(super) fn check_object(
    resource: &Resource,
    representation: Representation,
    object: &dyn Fn() -> Value,
) -> Result<(), StatusError> {
    // The real server takes a custom object with items for a list, and fails at it.
    if resource.is_custom() && object()["items"].is_array() {
        let why = "*unstructured.Unstructured is not a list: no Items field in this object";
        return Err(StatusError::internal(why));
    }
    match representation {
        Representation::PartialMetadataList(_) if resource.is_custom() => {
            Err(StatusError::internal("content is not a list"))
        }
        Representation::PartialMetadataList(_) => Err(not_acceptable(&format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
            go_type(resource, &resource.kind)
        ))),
        _ => Ok(()),
    }
}

/// The metadata of an object without the rest.
pub(super) fn partial(resource: &Resource, version: MetaVersion, object: &Value) -> Value {
    table::partial(resource, version.api_version(), object)
}

fn not_acceptable(message: &str) -> StatusError {
    StatusError { message: message.to_owned(), ..StatusError::not_acceptable(&[]) }
}

/// What Go calls the type of a value.
fn go_type(resource: &Resource, kind: &str) -> String {
    let is_list = kind == resource.list_kind;
    match resource.origin {
        Origin::Custom(_) if is_list => "*unstructured.UnstructuredList".to_owned(),
        Origin::Custom(_) => "*unstructured.Unstructured".to_owned(),
        _ => format!("*{}.{kind}", kind::package(&resource.id.group)),
    }
}
