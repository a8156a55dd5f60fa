//! Evicting a Pod: deleting it if its disruption budget allows that.

use serde_json::{Value, json};

use super::{
    budget::{self, Verdict},
    condition::set_condition,
};
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::ObjectKey,
    resource::Resource,
    status::{Result, StatusError},
    write::{self, DeleteOptions},
};

/// How often an eviction is tried again after a concurrent write.
const TRIES: usize = 20;

/// Evicts a Pod; the answer is a `Status`.
pub(crate) fn evict(
    cluster: &Cluster,
    pods: &Resource,
    key: &ObjectKey,
    options: &DeleteOptions,
) -> Result<Value> {
    let mut outrun = None;
    for _ in 0..TRIES {
        let Some((_, pod)) = cluster.read(pods, key) else {
            return Err(StatusError::not_found(&pods.id, &key.name));
        };
        if !needs_no_budget(&pod) {
            return evict_within_budget(cluster, pods, key, &pod, options);
        }
        let guarded = DeleteOptions {
            resource_version: options.resource_version.clone().or_else(|| guard(&pod)),
            ..options.clone()
        };
        match delete(cluster, pods, key, &guarded) {
            Err(error) if error.code == 409 && options.resource_version.is_none() => {
                outrun = Some(error);
            }
            outcome => return outcome.map(|()| success()),
        }
    }
    Err(outrun.unwrap_or_else(|| StatusError::modified(&pods.id, &key.name)))
}

fn evict_within_budget(
    cluster: &Cluster,
    pods: &Resource,
    key: &ObjectKey,
    pod: &Value,
    options: &DeleteOptions,
) -> Result<Value> {
    match budget::decide(cluster, key, pod, options.dry_run)? {
        Verdict::Ambiguous => Ok(json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "This pod has more than one PodDisruptionBudget, which the eviction \
                        subresource does not support.",
            "code": 500,
        })),
        Verdict::Allowed => delete(cluster, pods, key, options).map(|()| success()),
        Verdict::AllowedUnchanged(name) => {
            let version = pod["metadata"]["resourceVersion"].as_str().map(str::to_owned);
            let guarded = DeleteOptions { resource_version: version, ..options.clone() };
            match delete(cluster, pods, key, &guarded) {
                Err(error) if error.code == 409 && options.resource_version.is_none() => {
                    Err(budget::busy(&name))
                }
                outcome => outcome.map(|()| success()),
            }
        }
    }
}

/// Whether a Pod is disrupted already, or has not begun.
fn needs_no_budget(pod: &Value) -> bool {
    is_ended(pod) || pod["status"]["phase"] == "Pending"
}

fn is_ended(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str().unwrap_or_default();
    matches!(phase, "Succeeded" | "Failed") || !pod["metadata"]["deletionTimestamp"].is_null()
}

/// The version at which a Pod that may still become healthy is deleted.
fn guard(pod: &Value) -> Option<String> {
    let version = pod["metadata"]["resourceVersion"].as_str()?;
    (!is_ended(pod)).then(|| version.to_owned())
}

/// Marks a Pod as disrupted, and deletes it.
fn delete(
    cluster: &Cluster,
    pods: &Resource,
    key: &ObjectKey,
    options: &DeleteOptions,
) -> Result<()> {
    let mut options = options.clone();
    if !options.dry_run {
        let now = cluster.clock.now_text();
        let why = Some(("EvictionByEvictionAPI", "Eviction API: evicting"));
        let given = options.clone();
        let mark = |pod: &mut Value| {
            check_preconditions(key, pod, &given)?;
            set_condition(pod, "DisruptionTarget", why, &now);
            Ok(())
        };
        let marked = write::change_directly(cluster, pods, key, false, &mark)?;
        if let Some(version) = &mut options.resource_version {
            *version = marked.meta.resource_version.to_string();
        }
    }
    write::delete(cluster, pods, key, &options).map(|_| ())
}

fn check_preconditions(key: &ObjectKey, pod: &Value, options: &DeleteOptions) -> Result<()> {
    let found = |field: &str| pod["metadata"][field].as_str().unwrap_or_default().to_owned();
    let conflict =
        |why: &str| Err(StatusError::conflict(&GroupResource::new("", "Pod"), &key.name, why));
    let uid = found("uid");
    if let Some(given) = options.uid.as_ref().filter(|given| !given.is_empty() && **given != uid) {
        return conflict(&format!(
            "the UID in the precondition ({given}) does not match the UID in record ({uid}). \
             The object might have been deleted and then recreated"
        ));
    }
    let version = found("resourceVersion");
    let asked = options.resource_version.as_ref();
    if let Some(given) = asked.filter(|given| !given.is_empty() && **given != version) {
        return conflict(&format!(
            "the ResourceVersion in the precondition ({given}) does not match the ResourceVersion \
             in record ({version}). The object might have been modified"
        ));
    }
    Ok(())
}

/// The answer to what was done.
pub(crate) fn success() -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    })
}
