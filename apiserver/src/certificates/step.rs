//! The step that is due for a request: requests of kubelets are approved, and approved requests are signed.
//!
//! The server approves a kubelet's request only if its user is in the group of administrators.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{certificate::Authority, request::Request, signers::Kind};
use crate::{cluster::Cluster, credentials::CredentialsError, resource::Subresource};

/// What a controller does next with a request for a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Approve(&'static str),
    Sign,
    Fail(String),
}

impl Step {
    /// The step that is due for a request.
    pub(crate) fn due(object: &Value) -> Option<Self> {
        let signer = Kind::of(object["spec"]["signerName"].as_str().unwrap_or_default())?;
        let request = Request::of(object).ok()?;
        let has = |kind: &str| {
            let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
            conditions.into_iter().any(|condition| condition["type"] == kind)
        };
        let is_signed = object["status"]["certificate"].as_str().is_some_and(|it| !it.is_empty());
        if is_signed || has("Denied") || has("Failed") {
            return None;
        }
        let checked = signer.check(&request, &usages(object));
        match (has("Approved"), checked) {
            (true, Ok(())) => Some(Self::Sign),
            (true, Err(why)) => Some(Self::Fail(why)),
            (false, Ok(())) if signer == Kind::KubeletClient && is_administrator(object) => {
                let is_own = object["spec"]["username"] == *request.common_name;
                Some(Self::Approve(if is_own {
                    "Auto approving self kubelet client certificate after SubjectAccessReview."
                } else {
                    "Auto approving kubelet client certificate after SubjectAccessReview."
                }))
            }
            (false, _) => None,
        }
    }

    /// What the step writes.
    pub(crate) fn subresource(&self) -> Subresource {
        match self {
            Self::Approve(_) => Subresource::Approval,
            Self::Sign | Self::Fail(_) => Subresource::Status,
        }
    }

    /// Takes the step.
    pub(crate) fn apply(&self, cluster: &Cluster, object: &mut Value) {
        let now = cluster.clock.now_text();
        let condition = match self {
            Self::Approve(message) => json!({
                "type": "Approved", "status": "True", "reason": "AutoApproved", "message": message,
            }),
            Self::Fail(why) => json!({
                "type": "Failed", "status": "True", "reason": "SignerValidationFailure",
                "message": why, "lastUpdateTime": now,
            }),
            Self::Sign => return sign(cluster, object),
        };
        match object["status"]["conditions"].as_array_mut() {
            Some(conditions) => conditions.push(condition),
            None => object["status"]["conditions"] = json!([condition]),
        }
    }
}

fn sign(cluster: &Cluster, object: &mut Value) {
    let Ok(request) = Request::of(object) else { return };
    let seconds = object["spec"]["expirationSeconds"].as_i64();
    let sign = || {
        let credentials = cluster.keychain.credentials()?;
        let authority = Authority::of(&credentials.authority, &credentials.authority_key)?;
        authority.sign(&request, &usages(object), seconds, cluster.clock.now())
    };
    match sign() {
        Ok(certificate) => {
            object["status"]["certificate"] = json!(BASE64_STANDARD.encode(certificate));
        }
        Err::<_, CredentialsError>(error) => {
            tracing::warn!(error = error.to_string(), "a certificate cannot be signed");
        }
    }
}

fn usages(object: &Value) -> Vec<&str> {
    let usages = object["spec"]["usages"].as_array().into_iter().flatten();
    usages.filter_map(Value::as_str).collect()
}

fn is_administrator(object: &Value) -> bool {
    let groups = object["spec"]["groups"].as_array().into_iter().flatten();
    groups.into_iter().any(|group| group == "system:masters")
}
