//! The conditions of rollouts: `Progressing` and `Updated`.

use super::shown::reason_shown;
use crate::{journal::RolledOut, object::Object, operator::Condition};

const PROGRESSING: &str = "Progressing";
const UPDATED: &str = "Updated";

/// The reasons, which identify the conditions as set by Operetta.
const ROLLING_OUT: &str = "RollingOut";
const STOPPED: &str = "RolloutStopped";
const COMPLETE: &str = "RolloutComplete";

/// None for a parent without rollouts.
pub(super) fn conditions(rollouts: &[RolledOut]) -> Vec<Condition> {
    if rollouts.is_empty() {
        return Vec::new();
    }
    let are_updated = rollouts.iter().all(|it| it.updated == it.children);
    let are_ready = rollouts.iter().all(|it| it.ready == it.children);
    let is_stopped = rollouts.iter().any(|it| it.is_stopped);
    let reason = match (is_stopped, are_ready) {
        (true, _) => STOPPED,
        (false, true) => COMPLETE,
        (false, false) => ROLLING_OUT,
    };
    let texts: Vec<_> = rollouts.iter().map(ToString::to_string).collect();
    let message = texts.join("; ");
    let updated = if are_updated { COMPLETE } else { reason };
    vec![
        Condition::new(PROGRESSING, !is_stopped, reason, message.clone()),
        Condition::new(UPDATED, are_updated, updated, message),
    ]
}

/// Those that the parent shows and that Operetta set.
pub(super) fn shown_by(parent: &Object) -> Vec<&'static str> {
    let is_ours = |ty: &&'static str| {
        let reason = reason_shown(parent, ty);
        reason.is_some_and(|reason| [ROLLING_OUT, STOPPED, COMPLETE].contains(&&*reason))
    };
    [PROGRESSING, UPDATED].into_iter().filter(is_ours).collect()
}
