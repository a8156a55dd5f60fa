//! The status of a Deployment: counts, `Available` and `Progressing`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{sets::Sets, strategy::Strategy};
use crate::simulation::{
    condition,
    decision::Decision,
    object::{generation, name, number, replicas, text, time},
    readiness::set_counts,
};

/// `progressDeadlineSeconds` of a Deployment that has none.
const NO_DEADLINE: i64 = i32::MAX as i64;
const PROGRESSING: &str = "Progressing";

/// The status; `created` is the set that is being created.
pub(super) fn status(
    deployment: &Value,
    sets: &Sets<'_>,
    strategy: Strategy,
    created: Option<&str>,
    now: Timestamp,
    decision: &mut Decision,
) -> Value {
    let mut status = deployment["status"].clone();
    count(deployment, sets, &mut status);
    set_available(deployment, strategy, &mut status, now);
    let seconds = deployment["spec"]["progressDeadlineSeconds"].as_i64().unwrap_or(NO_DEADLINE);
    if seconds == NO_DEADLINE {
        condition::remove(&mut status, PROGRESSING);
    } else if let Some(created) = created {
        let message = format!("Created new replica set {created:?}");
        set(&mut status, ("True", "NewReplicaSetCreated", &message), now);
    } else if deployment["spec"]["paused"] == true {
        if reason(&status) != "ProgressDeadlineExceeded" {
            set(&mut status, ("Unknown", "DeploymentPaused", "Deployment is paused"), now);
        }
    } else if reason(&status) == "DeploymentPaused" {
        set(&mut status, ("Unknown", "DeploymentResumed", "Deployment is resumed"), now);
    } else {
        let deadline = SignedDuration::from_secs(seconds);
        estimate_progress(deployment, sets, &mut status, (deadline, now), decision);
    }
    status
}

fn count(deployment: &Value, sets: &Sets<'_>, status: &mut Value) {
    let sum = |field: &str| sets.all().map(|set| number(&set["status"][field])).sum::<i64>();
    let total: i64 = sets.all().map(replicas).sum();
    let available = sum("availableReplicas");
    status["terminatingReplicas"] = json!(sum("terminatingReplicas"));
    set_counts(
        status,
        [
            ("observedGeneration", generation(deployment)),
            ("replicas", sum("replicas")),
            ("updatedReplicas", sets.new.map_or(0, |new| number(&new["status"]["replicas"]))),
            ("readyReplicas", sum("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (total - available).max(0)),
        ],
    );
}

fn set_available(deployment: &Value, strategy: Strategy, status: &mut Value, now: Timestamp) {
    let least = replicas(deployment) - strategy.unavailable();
    let (value, reason, message) = if number(&status["availableReplicas"]) >= least {
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    condition::set(status, ("Available", value, reason, message), &["lastUpdateTime"], now);
}

fn estimate_progress(
    deployment: &Value,
    sets: &Sets<'_>,
    status: &mut Value,
    (deadline, now): (SignedDuration, Timestamp),
    decision: &mut Decision,
) {
    let is_rolled_out = status["replicas"] == status["updatedReplicas"];
    if is_rolled_out && reason(status) == "NewReplicaSetAvailable" {
        return;
    }
    let subject = match sets.new {
        Some(new) => format!("ReplicaSet {:?}", name(new)),
        None => format!("Deployment {:?}", name(deployment)),
    };
    if is_complete(deployment, status) {
        let message = format!("{subject} has successfully progressed.");
        set(status, ("True", "NewReplicaSetAvailable", &message), now);
    } else if has_progressed(&deployment["status"], status) {
        let message = format!("{subject} is progressing.");
        set(status, ("True", "ReplicaSetUpdated", &message), now);
        renew(status, now);
    } else if condition::find(status, PROGRESSING).is_none() {
        if let Some(new) = sets.new {
            let message = format!("Found new replica set {:?}", name(new));
            set(status, ("True", "FoundNewReplicaSet", &message), now);
        }
    } else if is_overdue(status, deadline, now, decision) {
        let message = format!("{subject} has timed out progressing.");
        set(status, ("False", "ProgressDeadlineExceeded", &message), now);
    }
}

fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = replicas(deployment);
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| number(&status[*field]) == wanted)
}

/// Whether more Pods are new, ready or available, or fewer are old.
fn has_progressed(before: &Value, after: &Value) -> bool {
    let old = |status: &Value| number(&status["replicas"]) - number(&status["updatedReplicas"]);
    let grew = |field: &str| number(&after[field]) > number(&before[field]);
    let fields = ["updatedReplicas", "readyReplicas", "availableReplicas"];
    old(after) < old(before) || fields.into_iter().any(grew)
}

/// Whether there was no progress for too long.
fn is_overdue(
    status: &Value,
    deadline: SignedDuration,
    now: Timestamp,
    decision: &mut Decision,
) -> bool {
    if ["NewReplicaSetAvailable", "ProgressDeadlineExceeded"].contains(&reason(status)) {
        return reason(status) == "ProgressDeadlineExceeded";
    }
    let last = condition::find(status, PROGRESSING).and_then(|it| time(&it["lastUpdateTime"]));
    last.is_some_and(|last| decision.has_passed(last, deadline, now))
}

/// Progress moves the time of the last update, even where the reason stays.
fn renew(status: &mut Value, now: Timestamp) {
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    let conditions = conditions.into_iter().flatten();
    for progressing in conditions.filter(|condition| condition["type"] == PROGRESSING) {
        progressing["lastUpdateTime"] = json!(crate::clock::seconds(now));
    }
}

fn reason(status: &Value) -> &str {
    condition::find(status, PROGRESSING).map(|it| text(&it["reason"])).unwrap_or_default()
}

fn set(status: &mut Value, (value, reason, message): (&str, &str, &str), now: Timestamp) {
    condition::set(status, (PROGRESSING, value, reason, message), &["lastUpdateTime"], now);
}
