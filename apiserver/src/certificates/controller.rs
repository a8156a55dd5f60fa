//! Approves what kubelets ask for, and signs what was approved.
//!
//! Whether a user may have a kubelet's certificate approved is decided by the group of administrators alone.

use std::collections::BTreeSet;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{certificate::Authority, request::Request, signers::Kind};
use crate::{
    cluster::Cluster,
    credentials::CredentialsError,
    log::{Event, ObjectKey, Revision},
    resource::{GroupResource, Resource},
    write::{self, Applied, Change, Subresource, WriteOptions},
};

const MANAGER: &str = "kube-controller-manager";

/// The requests to look at.
#[derive(Debug, Default)]
pub(crate) struct Work(BTreeSet<ObjectKey>);

/// What is to be done about a request.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Approve(&'static str),
    Sign,
    Fail(String),
}

impl Work {
    /// Notes a request that may be due.
    pub(crate) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
        let is_request = resource.group == "certificates.k8s.io"
            && resource.plural == "certificatesigningrequests";
        if is_request && revision.event != Event::Deleted {
            self.0.insert(revision.key.clone());
        }
    }

    /// Approves and signs.
    pub(crate) fn perform(self, cluster: &Cluster) {
        let id = GroupResource::new("certificates.k8s.io", "certificatesigningrequests");
        let resources = cluster.registry.snapshot();
        let Some(resource) = resources.stored(&id) else { return };
        for key in self.0 {
            let Some((_, request)) = cluster.read(resource, &key) else { continue };
            if let Some(step) = step(&request) {
                take(cluster, resource, &key, &step);
            }
        }
    }
}

fn step(object: &Value) -> Option<Step> {
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
        (true, Ok(())) => Some(Step::Sign),
        (true, Err(why)) => Some(Step::Fail(why)),
        (false, Ok(())) if signer == Kind::KubeletClient && is_administrator(object) => {
            let is_own = object["spec"]["username"] == *request.common_name;
            Some(Step::Approve(if is_own {
                "Auto approving self kubelet client certificate after SubjectAccessReview."
            } else {
                "Auto approving kubelet client certificate after SubjectAccessReview."
            }))
        }
        (false, _) => None,
    }
}

fn take(cluster: &Cluster, resource: &Resource, key: &ObjectKey, due: &Step) {
    let part = match due {
        Step::Approve(_) => Subresource::Approval,
        Step::Sign | Step::Fail(_) => Subresource::Status,
    };
    let options = WriteOptions { manager: MANAGER.to_owned(), ..WriteOptions::default() };
    let mut change = |live: &Value| {
        let mut next = live.clone();
        // It may have been decided otherwise meanwhile.
        if step(live).as_ref() == Some(due) {
            apply(cluster, &mut next, due);
        }
        Ok(Change { next, managed: Applied::No })
    };
    // It may be deleted already.
    let _ = write::update(cluster, resource, key, part, &options, &mut change);
}

fn apply(cluster: &Cluster, object: &mut Value, due: &Step) {
    let now = cluster.clock.now_text();
    let condition = match due {
        Step::Approve(message) => json!({
            "type": "Approved", "status": "True", "reason": "AutoApproved", "message": message,
        }),
        Step::Fail(why) => json!({
            "type": "Failed", "status": "True", "reason": "SignerValidationFailure",
            "message": why, "lastUpdateTime": now,
        }),
        Step::Sign => return sign(cluster, object),
    };
    match object["status"]["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(condition),
        None => object["status"]["conditions"] = json!([condition]),
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
