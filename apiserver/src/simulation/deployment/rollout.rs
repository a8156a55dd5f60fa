//! One step of a rollout: the new sizes of sets.

use serde_json::Value;

use super::{sets::Sets, strategy::Strategy};
use crate::simulation::{
    object::{is_controlled_by, number, replicas},
    readiness::has_ended,
};

/// Sets with the size that they get now.
type Sizes<'a> = Vec<(&'a Value, i64)>;

/// The sets to be scaled in this step. Old sets are scaled down when the new one has its size for now.
pub(super) fn step<'a>(
    deployment: &Value,
    sets: &Sets<'a>,
    strategy: Strategy,
    pods: &[Value],
) -> Sizes<'a> {
    if deployment["spec"]["paused"] == true {
        return only_active(deployment, sets);
    }
    let grown = sets.new.filter(|_| !waits(sets, strategy, pods)).and_then(|new| {
        let size = size_of_new(deployment, sets, strategy);
        (size != replicas(new)).then_some((new, size))
    });
    match (grown, strategy) {
        (Some(grown), _) => vec![grown],
        (None, Strategy::Recreate) => {
            let old = sets.old.iter().copied().filter(|set| replicas(set) > 0);
            old.map(|set| (set, 0)).collect()
        }
        (None, Strategy::Rolling { unavailable, .. }) => shrink(deployment, sets, unavailable),
    }
}

/// Whether the new set waits for the old Pods to end.
pub(super) fn waits(sets: &Sets<'_>, strategy: Strategy, pods: &[Value]) -> bool {
    let is_old = |pod: &&Value| sets.old.iter().any(|set| is_controlled_by(pod, set));
    strategy == Strategy::Recreate
        && (sets.old.iter().any(|set| replicas(set) > 0)
            || pods.iter().filter(is_old).any(|pod| !has_ended(pod)))
}

/// The size that the new set may have now.
pub(super) fn size_of_new(deployment: &Value, sets: &Sets<'_>, strategy: Strategy) -> i64 {
    let (wanted, present) = (replicas(deployment), sets.new.map_or(0, replicas));
    let Strategy::Rolling { surge, .. } = strategy else { return wanted };
    let total: i64 = sets.all().map(replicas).sum();
    let room = (wanted + surge - total).max(0);
    (present + room).min(wanted)
}

/// While a rollout is paused, a Deployment with one set in use is scaled all the same.
fn only_active<'a>(deployment: &Value, sets: &Sets<'a>) -> Sizes<'a> {
    let active: Vec<&Value> = sets.all().filter(|set| replicas(set) > 0).collect();
    let wanted = replicas(deployment);
    match (active.as_slice(), sets.new) {
        ([only], _) if replicas(only) != wanted => vec![(*only, wanted)],
        ([], Some(new)) if wanted > 0 => vec![(new, wanted)],
        _ => Vec::new(),
    }
}

/// Takes replicas from the old sets, those that are not available first, as far as enough remain available.
fn shrink<'a>(deployment: &Value, sets: &Sets<'a>, unavailable: i64) -> Sizes<'a> {
    let least = replicas(deployment) - unavailable;
    let total: i64 = sets.all().map(replicas).sum();
    let pending = sets.new.map_or(0, |new| replicas(new) - available(new));
    let mut room = total - least - pending;
    let mut sizes: Sizes<'a> = sets.old.iter().map(|set| (*set, replicas(set))).collect();
    for (set, size) in &mut sizes {
        let broken = (*size - available(set)).max(0).min(room.max(0));
        *size -= broken;
        room -= broken;
    }
    let mut spare = (sets.all().map(available).sum::<i64>() - least).min(room).max(0);
    for (_, size) in &mut sizes {
        let taken = (*size).min(spare);
        *size -= taken;
        spare -= taken;
    }
    sizes.retain(|(set, size)| *size != replicas(set));
    sizes
}

fn available(set: &Value) -> i64 {
    number(&set["status"]["availableReplicas"])
}
