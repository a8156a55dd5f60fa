//! Who makes a request for a certificate, and what is never signed for anybody.

use serde_json::Value;

use super::request::Request;
use crate::{
    resource::Resource,
    status::{Result, StatusError},
    users::User,
};

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Whether objects of a type are requests for certificates.
pub(crate) fn is_signing_request(resource: &Resource) -> bool {
    resource.id.group == "certificates.k8s.io" && resource.kind == "CertificateSigningRequest"
}

/// Writes into a new request for a certificate who made it.
pub(crate) fn identify(user: &User, resource: &Resource, object: &mut Value) {
    if !is_signing_request(resource) {
        return;
    }
    let Some(spec) = object["spec"].as_object_mut() else { return };
    for field in ["username", "uid", "groups", "extra"] {
        spec.remove(field);
    }
    if let Value::Object(info) = user.info() {
        spec.extend(info);
    }
}

/// Whether a change of the status is one that a signer makes.
pub(crate) fn is_signed_anew(live: &Value, next: &Value) -> bool {
    let certificate =
        |it: &Value| it["status"]["certificate"].as_str().unwrap_or_default().to_owned();
    let conditions =
        |it: &Value| it["status"]["conditions"].as_array().cloned().unwrap_or_default();
    certificate(live) != certificate(next) || conditions(live) != conditions(next)
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
