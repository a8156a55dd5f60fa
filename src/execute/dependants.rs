//! Reads what Kubernetes makes of children that are not ready: their Pods, the claims of these, and the Warnings about
//! all of them; and who set which field. Bounded in requests and time, and apart from the reconciles. Decides nothing.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use futures::{StreamExt, stream};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::Context;
use crate::{
    board::{Dependants, Depth, Owners, Workload},
    cluster::Which,
    object::{K8sType, ObjectEvent, ObjectKey, Readiness, Uid, claims_of, field_owners},
    plan::ChildId,
    reply::{ApiError, ErrorClass},
};

/// The most children that are looked at, and the most Pods and claims of each.
struct Limits {
    children: usize,
    each: usize,
}

/// The most Warnings of each.
const MAX_WARNINGS: usize = 20;
const AT_ONCE: usize = 4;
/// The time after which the answers so far are returned.
const DEADLINE: Duration = Duration::from_millis(1500);

impl Context {
    /// The dependants of the first few children.
    pub(crate) async fn read_dependants(&self, of: &[Workload], depth: Depth) -> Vec<Dependants> {
        let until = Instant::now() + DEADLINE;
        let Ok(Ok(_permit)) = timeout_at(until, self.event_readers.acquire()).await else {
            return Vec::new();
        };
        let asked = of[..of.len().min(depth.limits().children)].to_vec();
        let reads = asked.into_iter().map(|workload| async move {
            timeout_at(until, self.dependants(&workload, depth)).await.ok()
        });
        stream::iter(reads).buffered(AT_ONCE).filter_map(|read| async { read }).collect().await
    }

    /// Who set which field of an object.
    pub(crate) async fn read_owners(&self, of: &ChildId) -> Owners {
        let until = Instant::now() + DEADLINE;
        let read = async {
            let _permit = self.event_readers.acquire().await;
            self.parts
                .cluster
                .few(&of.ty, of.key.namespace.as_deref(), Which::Named(&of.key.name))
                .await
        };
        let plural = of.ty.plural();
        let seconds = DEADLINE.as_secs_f64();
        let list = timeout_at(until, read)
            .await
            .map_err(|_| format!("{plural} were not listed within {seconds} s"))?
            .map_err(|error| why(plural, &error))?;
        Ok(list.first().map(field_owners).unwrap_or_default())
    }

    async fn dependants(&self, workload: &Workload, depth: Depth) -> Dependants {
        let mut errors = BTreeSet::new();
        let pods = self.pods(workload, depth, &mut errors).await;
        let claims = self.claims(workload, &pods, depth, &mut errors).await;
        let warnings = match depth {
            Depth::Reasons => {
                let about = std::iter::once((workload.id.key.clone(), workload.uid.clone()));
                let about = about.chain(pods.iter().chain(&claims).map(key_and_uid)).collect();
                self.warnings(about, &mut errors).await
            }
            Depth::All => Vec::new(),
        };
        let errors = errors.into_iter().collect();
        Dependants { of: workload.id.clone(), pods, claims, warnings, errors }
    }

    async fn pods(
        &self,
        workload: &Workload,
        depth: Depth,
        errors: &mut BTreeSet<String>,
    ) -> Vec<Value> {
        let Some(selector) = &workload.selector else { return Vec::new() };
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let pods = self.few(&ty, workload, Which::Labelled(selector), errors).await;
        let wanted = pods.iter().filter(|pod| depth == Depth::All || is_unwell(pod));
        wanted.take(depth.limits().each).map(shallow).collect()
    }

    /// Those that the workload itself or one of these Pods names.
    async fn claims(
        &self,
        workload: &Workload,
        pods: &[Value],
        depth: Depth,
        errors: &mut BTreeSet<String>,
    ) -> Vec<Value> {
        let wanted = pods.iter().filter(|pod| depth == Depth::All || is_unscheduled(pod));
        let named: BTreeSet<String> =
            wanted.flat_map(claims_of).chain(workload.claims.clone()).collect();
        if named.is_empty() {
            return Vec::new();
        }
        let ty = K8sType::namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
        let claims = self.few(&ty, workload, Which::All, errors).await;
        let is_wanted = |claim: &&Value| {
            let is_open = depth == Depth::All || claim["status"]["phase"] != "Bound";
            is_open && named.contains(&name(claim))
        };
        claims.iter().filter(is_wanted).take(depth.limits().each).map(shallow).collect()
    }

    async fn few(
        &self,
        ty: &K8sType,
        beneath: &Workload,
        which: Which<'_>,
        errors: &mut BTreeSet<String>,
    ) -> Vec<Value> {
        let namespace = beneath.id.key.namespace.as_deref();
        self.parts.cluster.few(ty, namespace, which).await.unwrap_or_else(|error| {
            errors.insert(why(ty.plural(), &error));
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

impl Depth {
    fn limits(self) -> Limits {
        match self {
            Self::Reasons => Limits { children: 5, each: 3 },
            Self::All => Limits { children: 40, each: 100 },
        }
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

const METADATA: [&str; 6] =
    ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"];

/// Only what problems are made of: the environment of containers may be secret.
fn shallow(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let kept = METADATA.map(|name| (name.to_owned(), metadata[name].clone()));
    let spec = json!({
        "nodeName": object["spec"]["nodeName"],
        "volumes": object["spec"]["volumes"].as_array().map(|volumes| {
            volumes.iter().map(|it| json!({"persistentVolumeClaim": it["persistentVolumeClaim"]})).collect::<Vec<_>>()
        }),
        "storageClassName": object["spec"]["storageClassName"],
        "containers": images(&object["spec"]["containers"]),
        "initContainers": images(&object["spec"]["initContainers"]),
    });
    json!({"metadata": Map::from_iter(kept), "spec": spec, "status": object["status"]})
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
