//! Who makes a request for a certificate, and what is never signed for anybody.

use serde_json::{Value, json};

use super::request::Request;
use crate::{
    resource::Resource,
    status::StatusError,
    users,
    write::{self, Result},
};

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Writes into a new request for a certificate who made it.
pub(crate) fn identify(resource: &Resource, object: &mut Value) {
    if !write::is_signing_request(resource) {
        return;
    }
    let Some(spec) = object["spec"].as_object_mut() else { return };
    spec.remove("uid");
    spec.remove("extra");
    spec.insert("username".to_owned(), json!(users::NAME));
    spec.insert("groups".to_owned(), json!(users::GROUPS));
}

/// Refuses a valid request for what its signer never signs.
pub(crate) fn restrict(resource: &Resource, object: &Value) -> Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let is_restricted = object["spec"]["signerName"] == CLIENT_SIGNER
        && Request::of(object)
            .is_ok_and(|request| request.organizations.iter().any(|it| it == "system:masters"));
    if !is_restricted {
        return Ok(());
    }
    let why = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
    Err(StatusError::forbidden(&resource.id, name, &why))
}
