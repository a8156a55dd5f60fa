//! From an object to the decision of its controller: reads what the controller needs, and asks it.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    autoscaler, cron_job, daemon_set,
    decision::{Decision, Target, Write},
    deployment, endpoints,
    item::{Item, Kind},
    job,
    node::{self, NODE},
    object::{controller, is_deleting, items, name, text},
    observe, pod, recorder, replica_set, schedule, stateful_set,
    timing::WorkloadTiming,
    volume,
};
use crate::{cluster::Cluster, log::ObjectKey};

/// Decides about an object.
pub(super) fn decide(
    cluster: &Cluster,
    item: &Item,
    timing: WorkloadTiming,
    now: Timestamp,
) -> Decision {
    let key = &item.key;
    let Some(object) = observe::read(cluster, item.kind, key) else {
        return absent(cluster, item, now);
    };
    let namespace = &*key.namespace;
    let candidates = |kind| observe::candidates(cluster, &object, kind);
    match item.kind {
        Kind::Node if &*key.name == NODE => node::decide(Some(&object), now),
        Kind::Pod => decide_pod(cluster, &object, timing, now),
        Kind::ReplicaSet => replica_set::decide(&object, &candidates(Kind::Pod), now),
        Kind::Deployment => {
            let sets = candidates(Kind::ReplicaSet);
            let pods = observe::dependents(cluster, &sets, namespace, Kind::Pod);
            deployment::decide(&object, &sets, &pods, now)
        }
        Kind::StatefulSet => {
            let (pods, revisions) = (candidates(Kind::Pod), candidates(Kind::Revision));
            let claims = observe::names(cluster, Kind::Claim, namespace);
            stateful_set::decide(&object, &pods, &revisions, &claims, now)
        }
        Kind::DaemonSet => {
            let (pods, revisions) = (candidates(Kind::Pod), candidates(Kind::Revision));
            let node = node(cluster, NODE);
            daemon_set::decide(&object, &pods, &revisions, node.as_ref(), now)
        }
        Kind::Job => job::decide(&object, &candidates(Kind::Pod), now),
        Kind::CronJob => cron_job::decide(&object, &candidates(Kind::Job), now),
        Kind::Claim => {
            let all = |kind| observe::list(cluster, kind, "", &|_| true);
            volume::decide(&object, &all(Kind::Volume), &all(Kind::Class))
        }
        Kind::Volume => {
            let holder = &object["spec"]["claimRef"];
            let key = ObjectKey::new(text(&holder["namespace"]), text(&holder["name"]));
            let claim = observe::read(cluster, Kind::Claim, &key);
            volume::decide_volume(&object, claim.as_ref())
        }
        Kind::Service => decide_service(cluster, &object, key),
        Kind::Autoscaler => autoscaler::decide(&object, now),
        Kind::Event => recorder::decide(&object, now),
        Kind::Node | Kind::Revision | Kind::Class | Kind::Slice | Kind::Endpoints => {
            Decision::default()
        }
    }
}

/// What is made at the start, and what is left of a Service.
fn absent(cluster: &Cluster, item: &Item, now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    match item.kind {
        Kind::Node if &*item.key.name == NODE => return node::decide(None, now),
        Kind::Class if observe::list(cluster, Kind::Class, "", &|_| true).is_empty() => {
            decision.write(Write::Create(volume::default_class()));
        }
        Kind::Service => {
            if let Some(endpoints) = observe::read(cluster, Kind::Endpoints, &item.key) {
                decision.delete(&endpoints);
            }
        }
        _ => {}
    }
    decision
}

fn decide_pod(cluster: &Cluster, pod: &Value, timing: WorkloadTiming, now: Timestamp) -> Decision {
    if is_forgotten(cluster, pod) {
        let mut decision = Decision::default();
        job::release(pod, &mut decision);
        return decision;
    }
    match text(&pod["spec"]["nodeName"]) {
        "" if is_deleting(pod) => Decision::default(),
        "" => {
            let namespace: Arc<str> = text(&pod["metadata"]["namespace"]).into();
            let claims = observe::claims(pod).map(|name| {
                let key = ObjectKey::new(Arc::clone(&namespace), name.as_str());
                (name, observe::read(cluster, Kind::Claim, &key).unwrap_or_default())
            });
            let (claims, node) = (claims.collect::<Vec<_>>(), node(cluster, NODE));
            let mut decision = schedule::decide(pod, node.as_ref(), &claims, now);
            let is_absent =
                |made: &Value| claims.iter().any(|(claim, it)| claim == name(made) && it.is_null());
            let missing = volume::ephemeral(pod).filter(is_absent).map(Write::Create);
            missing.for_each(|claim| decision.write(claim));
            decision
        }
        NODE => pod::decide(pod, timing, now),
        // As Pods of a node that is gone are collected.
        other if is_deleting(pod) && node(cluster, other).is_none() => {
            Decision { writes: vec![Write::End(Target::of(pod))], again: None }
        }
        _ => Decision::default(),
    }
}

/// Whether a Pod waits to be counted by a Job that does not exist any more.
fn is_forgotten(cluster: &Cluster, pod: &Value) -> bool {
    let is_held = items(&pod["metadata"]["finalizers"]).any(|it| it == job::FINALIZER);
    is_held && {
        let job = controller(pod).and_then(|owner| {
            let key = ObjectKey::new(text(&pod["metadata"]["namespace"]), text(&owner["name"]));
            let job = observe::read(cluster, Kind::Job, &key)?;
            (job["metadata"]["uid"] == owner["uid"]).then_some(job)
        });
        job.is_none()
    }
}

fn decide_service(cluster: &Cluster, service: &Value, key: &ObjectKey) -> Decision {
    let selector = service["spec"]["selector"].as_object();
    let pods = observe::list(cluster, Kind::Pod, &key.namespace, &|pod| {
        selector.is_some_and(|selector| {
            let labels = &pod.meta.labels;
            selector.iter().all(|(label, value)| labels.get(label) == value.as_str())
        })
    });
    let slices = observe::list(cluster, Kind::Slice, &key.namespace, &|slice| {
        slice.meta.labels.get(endpoints::SERVICE) == Some(name(service))
    });
    let present = observe::read(cluster, Kind::Endpoints, key);
    endpoints::decide(service, &pods, &slices, present.as_ref())
}

fn node(cluster: &Cluster, name: &str) -> Option<Value> {
    observe::read(cluster, Kind::Node, &ObjectKey::new("", name))
}
