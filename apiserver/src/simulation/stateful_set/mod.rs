//! A `StatefulSet` keeps Pods with fixed names and their claims: it creates them in order, deletes them in reverse,
//! and updates them one at a time from the last.
//!
//! ```text
//!  decide ─ revisions ─ order (the next step) ─ identity (a Pod, its claims) ─ status
//! ```
//!
//! Not imitated: `maxUnavailable`, and deleting the claims of a set that is scaled down.

mod identity;
mod order;
mod status;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::order::{Order, Step};
use super::{
    decision::{Decision, Write},
    object::{is_deleting, name, text},
    ownership,
    revisions::{self, Revisions},
};

const SOURCE: &str = "simulated-statefulset-controller";

/// Decides about a set. `pods` and `kept` (revisions) are candidates, `claims` the names of claims that exist.
pub(super) fn decide(
    set: &Value,
    pods: &[Value],
    kept: &[Value],
    claims: &[String],
    now: Timestamp,
) -> Decision {
    let mut decision = Decision::default();
    let controlled = ownership::controlled(set, pods, &mut decision);
    let own: Vec<&Value> =
        controlled.into_iter().filter(|pod| identity::ordinal(set, pod).is_some()).collect();
    let revisions = Revisions::of(ownership::controlled(set, kept, &mut decision));
    if is_deleting(set) {
        return decision;
    }
    let Some(newest) = revisions.newest(set, &mut decision) else { return decision };
    let current = revisions.named(text(&set["status"]["currentRevision"])).unwrap_or(newest);
    let order = Order { set, pods: &own, current: name(current), newest: name(newest) };
    for step in order.steps(now, &mut decision) {
        perform(set, step, (current, newest), claims, &mut decision);
    }
    status::write(set, &own, (name(current), name(newest)), now, &mut decision);
    let in_use = [name(current), name(newest)];
    let used = own.iter().map(|pod| text(&pod["metadata"]["labels"][revisions::HASH]));
    revisions.delete_oldest(
        set,
        &in_use.into_iter().chain(used).collect::<Vec<_>>(),
        &mut decision,
    );
    decision
}

fn perform(
    set: &Value,
    step: Step<'_>,
    (current, newest): (&Value, &Value),
    claims: &[String],
    decision: &mut Decision,
) {
    match step {
        Step::Create { ordinal, is_updated } => {
            let revision = if is_updated { newest } else { current };
            for claim in identity::claims(set, ordinal) {
                if !claims.iter().any(|known| known == name(&claim)) {
                    decision.write(Write::Create(claim));
                }
            }
            let mut template = revisions::template(revision);
            template["metadata"]["labels"][revisions::HASH] = json!(name(revision));
            decision.spawn(set, SOURCE, identity::pod(set, &template, ordinal));
        }
        Step::Delete(pod) => {
            decision.delete(pod);
            let message =
                format!("delete Pod {} in StatefulSet {} successful", name(pod), name(set));
            decision.record(set, SOURCE, "SuccessfulDelete", message);
        }
    }
}

#[cfg(test)]
mod tests;
