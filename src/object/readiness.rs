//! Whether an object is ready for use, according to its status: by the rules of kstatus for kinds
//! that have rules of their own, by conditions for all others. Pure; reads no clock, so a long
//! rollout looks like one that has just begun.

mod condition;

use std::{fmt, sync::atomic::Ordering};

use serde_json::Value;

use self::condition::{Condition, joined};
use super::{Object, ReadyState, being_deleted};

/// Whether an object is ready, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    /// Whether it is.
    pub state: ReadyState,
    /// Why not, in a few words; empty when there is nothing to report.
    pub message: String,
}

/// The reasons of waiting containers that need manual intervention.
const STUCK: [&str; 7] = [
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
];

/// What the rules read of `spec`: the template of a Pod, which is large, is not.
const OF_SPEC: [&str; 4] = ["replicas", "suspend", "type", "updateStrategy"];

/// Kinds of the group `apps` whose controllers set `observedGeneration`.
const WORKLOADS: [&str; 4] = ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"];

impl Readiness {
    /// The readiness of an object.
    pub fn of(object: &Object) -> Self {
        let (ty, status) = (object.ty(), object.field("status").unwrap_or_default());
        let spec = || object.part_of("spec", &OF_SPEC);
        if let Some(unsettled) = unsettled(object, &status) {
            return unsettled;
        }
        match (ty.group(), ty.kind()) {
            ("apps", "Deployment") => deployment(&spec(), &status),
            ("apps", "StatefulSet") => stateful_set(&spec(), &status),
            ("apps", "DaemonSet") => daemon_set(&spec(), &status),
            ("apps", "ReplicaSet") | ("", "ReplicationController") => replica_set(&spec(), &status),
            ("batch", "Job") => job(&spec(), &status),
            ("", "Pod") => pod(&status),
            ("", "Service") => service(&spec(), &status),
            ("", "PersistentVolumeClaim") => claim(&status),
            ("", "Namespace") => ready(),
            ("apiextensions.k8s.io", _) => by_condition(&status, object, "Established"),
            _ => other(&status, object),
        }
    }

    /// It works, or has completed.
    pub fn ready() -> Self {
        ready()
    }

    /// Not ready yet, and why.
    pub fn progressing(why: impl Into<String>) -> Self {
        progressing(why)
    }

    /// It has failed, and why: somebody has to do something about it.
    pub fn failed(why: impl Into<String>) -> Self {
        failed(why)
    }

    /// The readiness of a Pod by its status.
    pub(crate) fn of_pod(status: &Value) -> Self {
        pod(status)
    }

    /// Whether an object is ready by a condition of its status, which must exist and be of its generation.
    pub fn of_condition(object: &Object, ty: &str) -> Self {
        let status = object.field("status").unwrap_or_default();
        unsettled(object, &status).unwrap_or_else(|| by_condition(&status, object, ty))
    }

    /// The readiness of an object that is being deleted, or whose controller has not observed it.
    pub(crate) fn unless_settled(object: &Object) -> Option<Self> {
        unsettled(object, &object.field("status").unwrap_or_default())
    }

    /// The state of an object. It is parsed once, so that unchanged children cost nothing.
    pub(crate) fn state_of(object: &Object) -> ReadyState {
        let memo = object.readiness_memo();
        let known = ReadyState::from_number(memo.load(Ordering::Relaxed));
        known.unwrap_or_else(|| {
            let state = Self::of(object).state;
            memo.store(state.number(), Ordering::Relaxed);
            state
        })
    }

    /// For an object that should exist and does not.
    pub fn missing() -> Self {
        Self::new(ReadyState::Missing, "it does not exist")
    }

    /// Whether nothing is to be waited for.
    pub fn is_good(&self) -> bool {
        self.state.is_good()
    }

    fn new(state: ReadyState, message: impl Into<String>) -> Self {
        Self { state, message: message.into() }
    }
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, message } = self;
        if message.is_empty() { f.write_str(state.name()) } else { f.write_str(message) }
    }
}

/// Whether an object is ready, and no more.
impl From<bool> for Readiness {
    fn from(is_ready: bool) -> Self {
        if is_ready { ready() } else { progressing("it is not ready yet") }
    }
}

/// An object that is being deleted, or that its controller has not observed.
fn unsettled(object: &Object, status: &Value) -> Option<Readiness> {
    if object.is_deleting() {
        return Some(terminating(&object.finalizers()));
    }
    let ty = object.ty();
    let is_workload = ty.group() == "apps" && WORKLOADS.contains(&ty.kind());
    match (status["observedGeneration"].as_i64(), object.generation()) {
        (Some(seen), Some(now)) if seen < now => {
            Some(progressing(format!("generation {now} is not observed yet, only {seen}")))
        }
        // A status begins with zeros, which mean nothing before the controller has set it.
        (None, _) if is_workload => Some(progressing("its controller has not observed it yet")),
        _ => None,
    }
}

// === by kind ===

fn deployment(spec: &Value, status: &Value) -> Readiness {
    let condition = Condition::of(status, "Progressing");
    if let Some(late) = condition.filter(|it| it.reason == "ProgressDeadlineExceeded") {
        return failed(late.text());
    }
    if let Some(refused) = Condition::holding(status, "ReplicaFailure") {
        return failed(refused.text());
    }
    let wanted = wanted(spec);
    let (all, updated) = (count(status, "replicas"), count(status, "updatedReplicas"));
    let available = count(status, "availableReplicas");
    if updated < wanted {
        progressing(format!("{updated} of {wanted} replicas are updated"))
    } else if all > updated {
        progressing(format!("{} old replicas still exist", all - updated))
    } else if all > wanted {
        surplus(all, wanted)
    } else if available < wanted {
        progressing(format!("{available} of {wanted} replicas are available"))
    } else {
        ready()
    }
}

fn stateful_set(spec: &Value, status: &Value) -> Readiness {
    if spec["updateStrategy"]["type"] == "OnDelete" {
        return ready();
    }
    let wanted = wanted(spec);
    let partition = spec["updateStrategy"]["rollingUpdate"]["partition"].as_i64().unwrap_or(0);
    let (are_ready, updated) = (count(status, "readyReplicas"), count(status, "updatedReplicas"));
    let (to_update, all) = ((wanted - partition).max(0), count(status, "replicas"));
    if are_ready < wanted {
        progressing(format!("{are_ready} of {wanted} replicas are ready"))
    } else if all > wanted {
        surplus(all, wanted)
    } else if updated < to_update {
        progressing(format!("{updated} of {to_update} replicas are updated"))
    } else if partition == 0 && status["currentRevision"] != status["updateRevision"] {
        progressing("the newest revision is being rolled out")
    } else {
        ready()
    }
}

fn daemon_set(spec: &Value, status: &Value) -> Readiness {
    if status.get("desiredNumberScheduled").is_none() {
        return progressing("nothing is scheduled yet");
    }
    let wanted = count(status, "desiredNumberScheduled");
    let is_rolling = spec["updateStrategy"]["type"] != "OnDelete";
    let updated = count(status, "updatedNumberScheduled");
    let available = count(status, "numberAvailable");
    if is_rolling && updated < wanted {
        progressing(format!("{updated} of {wanted} pods are updated"))
    } else if available < wanted {
        progressing(format!("{available} of {wanted} pods are available"))
    } else {
        ready()
    }
}

fn replica_set(spec: &Value, status: &Value) -> Readiness {
    if let Some(refused) = Condition::holding(status, "ReplicaFailure") {
        return failed(refused.text());
    }
    let (wanted, available) = (wanted(spec), count(status, "availableReplicas"));
    let all = count(status, "replicas");
    if available < wanted {
        progressing(format!("{available} of {wanted} replicas are available"))
    } else if all > wanted {
        surplus(all, wanted)
    } else {
        ready()
    }
}

fn job(spec: &Value, status: &Value) -> Readiness {
    let holds = |ty| Condition::holding(status, ty);
    if let Some(why) = holds("Failed") {
        failed(why.text())
    } else if holds("Complete").is_some() {
        ready()
    } else if spec["suspend"] == true {
        progressing("it is suspended")
    } else if status.get("startTime").is_none() {
        progressing("it has not started")
    } else {
        let (active, failed) = (count(status, "active"), count(status, "failed"));
        progressing(format!("{active} pods run, {failed} have failed"))
    }
}

fn pod(status: &Value) -> Readiness {
    let text = |name: &str| status[name].as_str().unwrap_or_default();
    match text("phase") {
        "Succeeded" => return ready(),
        "Failed" => return failed(joined(text("reason"), text("message"), "it has failed")),
        _ => {}
    }
    if let Some(stuck) = ["initContainerStatuses", "containerStatuses"]
        .iter()
        .filter_map(|field| status[field].as_array())
        .flatten()
        .find_map(stuck_container)
    {
        return failed(stuck);
    }
    if Condition::of(status, "Ready").is_some_and(|it| it.status == "True") {
        return ready();
    }
    let scheduled = Condition::of(status, "PodScheduled").filter(|it| it.status == "False");
    let waits = scheduled.or_else(|| Condition::of(status, "Ready"));
    progressing(waits.map_or_else(|| "it has not been scheduled yet".to_owned(), |it| it.text()))
}

fn stuck_container(container: &Value) -> Option<String> {
    let waiting = &container["state"]["waiting"];
    let reason = waiting["reason"].as_str().filter(|reason| STUCK.contains(reason))?;
    let name = container["name"].as_str().unwrap_or_default();
    let message = waiting["message"].as_str().unwrap_or_default();
    Some(format!("container {name}: {}", joined(reason, message, "")))
}

fn service(spec: &Value, status: &Value) -> Readiness {
    let is_balanced =
        || status["loadBalancer"]["ingress"].as_array().is_some_and(|it| !it.is_empty());
    if spec["type"] == "LoadBalancer" && !is_balanced() {
        return progressing("its load balancer has no address yet");
    }
    ready()
}

fn claim(status: &Value) -> Readiness {
    match status["phase"].as_str() {
        Some("Bound") => ready(),
        Some("Lost") => failed("its volume is lost"),
        _ => progressing("it is not bound to a volume yet"),
    }
}

/// By the conditions of kstatus, and those that most types have.
fn other(status: &Value, object: &Object) -> Readiness {
    let holds = |ty| Condition::holding(status, ty);
    if let Some(stalled) = holds("Stalled") {
        return failed(stalled.text());
    }
    if let Some(reconciling) = holds("Reconciling") {
        return progressing(reconciling.text());
    }
    let is_there = |ty: &&str| Condition::of(status, ty).is_some();
    match ["Ready", "Available", "Established"].into_iter().find(is_there) {
        Some(ty) => by_condition(status, object, ty),
        None => Readiness::new(ReadyState::Exists, ""),
    }
}

/// A condition may be older than the object.
fn by_condition(status: &Value, object: &Object, ty: &str) -> Readiness {
    let Some(condition) = Condition::of(status, ty) else {
        return progressing(format!("it has no condition {ty} yet"));
    };
    match (condition.generation, object.generation()) {
        (Some(seen), Some(now)) if seen < now => {
            progressing(format!("{ty} is of generation {seen}, not yet of {now}"))
        }
        _ if condition.status == "True" => ready(),
        _ => progressing(condition.text()),
    }
}

// === results ===

fn ready() -> Readiness {
    Readiness::new(ReadyState::Ready, "")
}

fn progressing(why: impl Into<String>) -> Readiness {
    Readiness::new(ReadyState::Progressing, why)
}

fn surplus(all: i64, wanted: i64) -> Readiness {
    progressing(format!("{} surplus replicas still exist", all - wanted))
}

fn failed(why: impl Into<String>) -> Readiness {
    Readiness::new(ReadyState::Failed, why)
}

fn terminating(finalizers: &[String]) -> Readiness {
    Readiness::new(ReadyState::Terminating, being_deleted(finalizers))
}

/// The default is one replica.
fn wanted(spec: &Value) -> i64 {
    spec["replicas"].as_i64().unwrap_or(1)
}

fn count(status: &Value, name: &str) -> i64 {
    status[name].as_i64().unwrap_or(0)
}

#[cfg(test)]
mod tests;
