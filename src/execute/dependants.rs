//! Reads what Kubernetes makes of children that are not ready: their Pods, the claims of these, and the Warnings about
//! all of them. Bounded in requests and time, and apart from the reconciles. Decides nothing.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::Context;
use crate::{
    board::{Dependants, Workload},
    object::{K8sType, ObjectEvent, ObjectKey, Readiness, Uid, claims_of},
    reply::{ApiError, ErrorClass},
};

/// The most children that are looked at.
const MAX_CHILDREN: usize = 5;
/// The most Pods, and the most claims, of each.
const MAX_EACH: usize = 3;
/// The most Warnings of each.
const MAX_WARNINGS: usize = 20;
const AT_ONCE: usize = 4;
/// The time after which the answers so far are returned.
const DEADLINE: Duration = Duration::from_millis(1500);

impl Context {
    /// The dependants that are not well, of the first few children.
    pub(crate) async fn read_dependants(&self, of: &[Workload]) -> Vec<Dependants> {
        let until = Instant::now() + DEADLINE;
        let Ok(Ok(_permit)) = timeout_at(until, self.event_readers.acquire()).await else {
            return Vec::new();
        };
        let asked = of[..of.len().min(MAX_CHILDREN)].to_vec();
        let reads = asked.into_iter().map(|workload| async move {
            timeout_at(until, self.dependants(&workload)).await.ok()
        });
        stream::iter(reads).buffered(AT_ONCE).filter_map(|read| async { read }).collect().await
    }

    async fn dependants(&self, workload: &Workload) -> Dependants {
        let namespace = workload.id.key.namespace.as_deref();
        let mut errors = BTreeSet::new();
        let pods = match &workload.selector {
            Some(selector) => self.few("Pod", "pods", namespace, Some(selector), &mut errors).await,
            None => Vec::new(),
        };
        let pods: Vec<Value> =
            pods.iter().filter(|it| is_unwell(it)).take(MAX_EACH).map(shallow).collect();
        let named: BTreeSet<String> =
            pods.iter().filter(|it| is_unscheduled(it)).flat_map(claims_of).collect();
        let named: BTreeSet<String> = named.into_iter().chain(workload.claims.clone()).collect();
        let claims = if named.is_empty() {
            Vec::new()
        } else {
            let (kind, plural) = ("PersistentVolumeClaim", "persistentvolumeclaims");
            self.few(kind, plural, namespace, None, &mut errors).await
        };
        let is_open =
            |claim: &&Value| claim["status"]["phase"] != "Bound" && named.contains(&name(claim));
        let claims: Vec<Value> =
            claims.iter().filter(is_open).take(MAX_EACH).map(shallow).collect();
        let about = std::iter::once((workload.id.key.clone(), workload.uid.clone()));
        let about: Vec<_> = about.chain(pods.iter().chain(&claims).map(key_and_uid)).collect();
        let warnings = self.warnings(about, &mut errors).await;
        let errors = errors.into_iter().collect();
        Dependants { of: workload.id.clone(), pods, claims, warnings, errors }
    }

    async fn few(
        &self,
        kind: &str,
        plural: &str,
        namespace: Option<&str>,
        selector: Option<&str>,
        errors: &mut BTreeSet<String>,
    ) -> Vec<Value> {
        let ty = K8sType::namespaced("v1", kind, plural);
        let list = self.parts.cluster.few(&ty, namespace, selector).await;
        list.unwrap_or_else(|error| {
            errors.insert(why(plural, &error));
            Vec::new()
        })
    }

    async fn warnings(
        &self,
        about: Vec<(ObjectKey, Uid)>,
        errors: &mut BTreeSet<String>,
    ) -> Vec<ObjectEvent> {
        let reads = about
            .into_iter()
            .map(|(key, uid)| async move { self.parts.cluster.events_about(&key, &uid).await });
        let lists: Vec<_> = stream::iter(reads).buffered(AT_ONCE).collect().await;
        let mut warnings = Vec::new();
        for list in lists {
            match list {
                Ok(list) => warnings.extend(list.events.into_iter().filter(|it| it.is_warning)),
                Err(error) => drop(errors.insert(why("events", &error))),
            }
        }
        warnings.sort_by_key(|event| Reverse(event.last));
        warnings.truncate(MAX_WARNINGS);
        warnings
    }
}

fn why(plural: &str, error: &ApiError) -> String {
    match error.class() {
        ErrorClass::Forbidden => format!("missing permission: list on {plural}; {error}"),
        _ => format!("{plural} cannot be read: {error}"),
    }
}

fn is_unwell(pod: &Value) -> bool {
    !Readiness::of_pod(&pod["status"]).is_good()
}

fn is_unscheduled(pod: &Value) -> bool {
    pod["spec"]["nodeName"].as_str().unwrap_or_default().is_empty()
}

/// Only what problems are made of: the environment of containers may be secret.
fn shallow(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let names = |name: &str| metadata[name].clone();
    let spec = json!({
        "nodeName": object["spec"]["nodeName"],
        "volumes": object["spec"]["volumes"].as_array().map(|volumes| {
            volumes.iter().map(|it| json!({"persistentVolumeClaim": it["persistentVolumeClaim"]})).collect::<Vec<_>>()
        }),
        "storageClassName": object["spec"]["storageClassName"],
        "containers": images(&object["spec"]["containers"]),
        "initContainers": images(&object["spec"]["initContainers"]),
    });
    json!({
        "metadata": {"name": names("name"), "namespace": names("namespace"), "uid": names("uid"), "creationTimestamp": names("creationTimestamp")},
        "spec": spec,
        "status": object["status"],
    })
}

fn images(containers: &Value) -> Value {
    let containers = containers.as_array().into_iter().flatten();
    containers.map(|it| json!({"name": it["name"], "image": it["image"]})).collect()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

fn key_and_uid(object: &Value) -> (ObjectKey, Uid) {
    let metadata = &object["metadata"];
    let uid = metadata["uid"].as_str().unwrap_or_default();
    (ObjectKey::new(metadata["namespace"].as_str(), &name(object)), Uid::new(uid))
}
