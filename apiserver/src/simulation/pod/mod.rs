//! The kubelet: starts the containers of a Pod on the node, ends them, and stops the Pod when it is deleted.
//!
//! ```text
//!  New ─> Creating ─ start ─> Running ─ end ─> Ended (Succeeded, Failed)
//!                                ^       └───> BackOff ─┐
//!                                └──────────────────────┘  by the restart policy
//! ```
//!
//! No container runs. All containers of a Pod do the same at the same time.

mod script;
mod stage;
mod status;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use self::{script::Script, stage::Stage};
use super::{
    decision::{Decision, Target, Write},
    object::{is_deleting, items, number, text, time},
    timing::WorkloadTiming,
};
use crate::pods::SIMULATED;

const SOURCE: &str = "simulated-kubelet";
const NOTE: &str = "This Pod runs no containers: it only looks as if it ran.";

/// Decides about a Pod on the node.
pub(super) fn decide(pod: &Value, timing: WorkloadTiming, now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    let script = Script::of(pod, timing);
    if is_deleting(pod) {
        stop(pod, &script, now, &mut decision);
        return decision;
    }
    let stage = Stage::of(pod);
    let next = next(&stage, pod, &script, now, &mut decision);
    if stage != next {
        record(pod, &next, &mut decision);
    }
    let status = status::status(pod, &next, &script, now);
    let note = (SIMULATED.to_owned(), json!(NOTE));
    decision.status_and_annotations(pod, status, [note].into_iter().collect());
    decision
}

/// The stage that a Pod is in now.
fn next(
    stage: &Stage,
    pod: &Value,
    script: &Script,
    now: Timestamp,
    decision: &mut Decision,
) -> Stage {
    match *stage {
        Stage::New => Stage::Creating { since: now },
        Stage::Creating { .. } if script.never_starts => Stage::NotPulled,
        Stage::Creating { since } if decision.has_passed(since, script.start, now) => {
            Stage::Running { since: now, restarts: 0 }
        }
        Stage::Running { since, restarts } => match script.end {
            Some((after, code)) if decision.has_passed(since, after, now) => {
                end(pod, restarts, code, (since, now), decision)
            }
            _ => stage.clone(),
        },
        Stage::BackOff { finished, restarts, .. } => {
            if decision.has_passed(finished, back_off(restarts), now) {
                Stage::Running { since: now, restarts: restarts + 1 }
            } else {
                stage.clone()
            }
        }
        Stage::Creating { .. } | Stage::NotPulled | Stage::Ended { .. } => stage.clone(),
    }
}

/// What follows when the containers exit.
fn end(
    pod: &Value,
    restarts: i64,
    code: i64,
    (started, finished): (Timestamp, Timestamp),
    decision: &mut Decision,
) -> Stage {
    let restarts_again = match text(&pod["spec"]["restartPolicy"]) {
        "Never" => false,
        "OnFailure" => code != 0,
        _ => true,
    };
    if !restarts_again {
        return Stage::Ended { code, started, finished };
    }
    decision.look_at(finished.checked_add(back_off(restarts)).unwrap_or(Timestamp::MAX));
    Stage::BackOff { code, started, finished, restarts }
}

/// How long a container waits after so many restarts: the first is at once, then 10 s, doubled up to 5 minutes.
fn back_off(restarts: i64) -> SignedDuration {
    let doubled = u32::try_from(restarts.clamp(1, 6) - 1).unwrap_or_default();
    let seconds = if restarts == 0 { 0 } else { 10 * 2_i64.pow(doubled) };
    SignedDuration::from_secs(seconds.min(300))
}

/// Ends a deleted Pod when its containers have stopped.
fn stop(pod: &Value, script: &Script, now: Timestamp, decision: &mut Decision) {
    let grace = SignedDuration::from_secs(number(&pod["metadata"]["deletionGracePeriodSeconds"]));
    let Some(deadline) = time(&pod["metadata"]["deletionTimestamp"]) else { return };
    // Its finalizers hold a Pod that has ended.
    if grace.is_zero() {
        return;
    }
    let deleted = deadline.checked_sub(grace).unwrap_or(Timestamp::MIN);
    if decision.has_passed(deleted, script.stop.min(grace), now) {
        decision.write(Write::End(Target::of(pod)));
    }
}

fn record(pod: &Value, stage: &Stage, decision: &mut Decision) {
    let containers = || items(&pod["spec"]["containers"]).map(|container| text(&container["name"]));
    match stage {
        Stage::Running { .. } => {
            for container in containers() {
                let message = format!("Started container {container} (simulated: nothing runs)");
                decision.record(pod, SOURCE, "Started", message);
            }
        }
        Stage::BackOff { .. } => {
            for container in containers() {
                let message =
                    format!("Back-off restarting failed container {container} (simulated)");
                decision.warn(pod, SOURCE, "BackOff", message);
            }
        }
        Stage::NotPulled => {
            let message =
                "Back-off pulling image (simulated, as an annotation of the Pod asks for)";
            decision.warn(pod, SOURCE, "Failed", message);
        }
        Stage::New | Stage::Creating { .. } | Stage::Ended { .. } => {}
    }
}

#[cfg(test)]
mod tests;
