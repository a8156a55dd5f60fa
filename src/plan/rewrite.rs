//! Which steps of a plan write a child again that had been up to date, and why: another client
//! changed it, or the handler returned something else. Judges one reconcile;
//! [`Flapping`](super::Flapping) counts how often it happens.

use std::{cell::LazyCell, collections::HashMap};

use super::{ChildId, Deletion, DeletionReason, LastApplied, Plan, Step};
use crate::{
    object::{Object, ResourceVersion},
    operator::Children,
};

/// A child that had been up to date and is written again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rewrite {
    /// The JSON paths that are written; none when the whole child was or is to be deleted.
    pub(crate) paths: Vec<String>,
    /// What caused it.
    pub(crate) why: RewriteReason,
    /// The version at which the child was up to date.
    pub(crate) from: ResourceVersion,
    /// The version at which the child is not; `None` when it is deleted.
    pub(crate) to: Option<ResourceVersion>,
    /// The field manager that changed it, as far as the cache knows.
    pub(crate) changed_by: Option<String>,
}

/// What caused that a child is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RewriteReason {
    /// The handler wants the same as before: another client changed the child.
    Drift,
    /// The handler wants something else, although nothing in its request was changed by others.
    OtherAnswer,
}

/// What a reconcile writes again.
#[derive(Debug, Default)]
pub(crate) struct Rewrites {
    /// Whether the parent is unchanged since the previous reconcile.
    pub(crate) is_same_parent: bool,
    pub(crate) by_child: HashMap<ChildId, Rewrite>,
}

/// Finds the steps that write again. `last_applied` is that of the reconcile before, and
/// `is_same_parent` is whether the parent is as that reconcile left it.
pub(crate) fn rewrites(
    plan: &Plan,
    last_applied: &LastApplied,
    observed: &Children,
    is_ours: &dyn Fn(&Object) -> bool,
    is_same_parent: bool,
) -> HashMap<ChildId, Rewrite> {
    let seen = || observed.iter().filter(|child| is_ours(child)).collect::<Vec<_>>();
    let is_same = LazyCell::new(|| is_same_parent && last_applied.are_untouched(&seen()));
    let rewrite = |step: &Step| {
        let before = last_applied.left(step.id())?;
        let live = observed.of_type(&step.id().ty).get(&step.id().key);
        let change = change(step, before, live)?;
        let is_caused = change.why == RewriteReason::Drift || *is_same;
        is_caused.then(|| (step.id().clone(), change))
    };
    plan.steps.iter().filter_map(rewrite).collect()
}

fn change(step: &Step, (hash, settled): (u64, &Object), live: Option<&Object>) -> Option<Rewrite> {
    let (paths, is_same_state) = match step {
        Step::Create(write) => (&[][..], write.desired_hash == hash),
        Step::Update(write) => (&*write.paths, write.desired_hash == hash),
        Step::Delete(Deletion { why: DeletionReason::Undesired, .. }) => (&[][..], false),
        Step::Delete(Deletion { why: DeletionReason::Recreate { paths, instead_of }, .. }) => {
            (&**paths, instead_of.desired_hash == hash)
        }
        // In no plan: it follows from a refused update.
        Step::Delete(Deletion { why: DeletionReason::Immutable { .. }, .. }) => return None,
    };
    let why = match (is_same_state, live) {
        (true, Some(live)) if live != settled => RewriteReason::Drift,
        (true, None) => RewriteReason::Drift,
        (false, Some(live)) if live == settled => RewriteReason::OtherAnswer,
        // Another desired state: of a child that others changed, or of a child that was refused before.
        (true | false, _) => return None,
    };
    let changed_by = match why {
        RewriteReason::Drift => live.and_then(Object::changed_by).map(str::to_owned),
        RewriteReason::OtherAnswer => None,
    };
    let (from, to) = (settled.resource_version(), live.map(Object::resource_version));
    Some(Rewrite { paths: paths.to_vec(), why, from: from.clone(), to: to.cloned(), changed_by })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers},
        operator::{ChildConfig, ConflictPolicy},
        plan::{Contested, Write},
    };

    fn pods() -> K8sType {
        K8sType::namespaced("v1", "Pod", "pods")
    }

    fn parent() -> Object {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let value = json!({"metadata": {"name": "p", "uid": "p", "resourceVersion": "1"}});
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    fn child(name: &str, version: u64) -> Object {
        let entry = |manager: &str, operation: &str, second: u64| {
            let time = format!("2026-01-01T00:00:{second:02}Z");
            json!({"manager": manager, "operation": operation, "time": time, "fieldsV1": {}})
        };
        let value = json!({"metadata": {
            "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
            "ownerReferences": [{"uid": "p", "controller": true}],
            "managedFields": [entry("op", "Apply", 5), entry("hpa", "Update", version)],
        }});
        Object::from_value(&pods(), &value, &KeptManagers::new(["op"])).unwrap()
    }

    fn update(desired_hash: u64) -> Step {
        let paths = vec![".spec.x".to_owned()];
        let id = ChildId::of(&child("c", 1));
        let write = Write::new(id, Value::Null, desired_hash, ChildConfig::apply());
        Step::Update(Write { paths, ..write })
    }

    /// What is written again, when `c` and `d` were settled at version 4 with the desired hash 7.
    fn found(step: &Step, live: &[Object], is_same_parent: bool) -> Option<(RewriteReason, usize)> {
        let mut last_applied = LastApplied::default();
        last_applied.settle(["c", "d"].map(|name| (7, child(name, 4))));
        let all_settled = found_by(&last_applied, step, live, is_same_parent);
        for name in ["c", "d"] {
            let (left, id) = (child(name, 4), ChildId::of(&child(name, 4)));
            let policy = ConflictPolicy::Yield;
            last_applied.contest(Contested { id, desired_hash: 7, left, held: Vec::new(), policy });
            let contested = found_by(&last_applied, step, live, is_same_parent);
            assert_eq!(contested, all_settled, "others hold fields of {name}");
        }
        all_settled
    }

    fn found_by(
        last_applied: &LastApplied,
        step: &Step,
        live: &[Object],
        is_same_parent: bool,
    ) -> Option<(RewriteReason, usize)> {
        let observed = Children::new([(pods(), live.to_vec())]);
        let plan = Plan { steps: vec![step.clone()], ..Plan::default() };
        let mut found = rewrites(
            &plan,
            last_applied,
            &observed,
            &|child| child.controller() == Some(parent().uid()),
            is_same_parent,
        );
        found.drain().next().map(|(_, rewrite)| (rewrite.why, rewrite.paths.len()))
    }

    #[test]
    fn the_cause_of_a_rewrite_follows_from_the_desired_state_and_from_changes_by_others() {
        use RewriteReason::{Drift, OtherAnswer};
        let create = |desired_hash| match update(desired_hash) {
            Step::Update(write) => Step::Create(write),
            step => step,
        };
        let delete = || Step::Delete(Deletion::new(&child("c", 4), DeletionReason::Undesired));
        let (settled, other) = (|| child("c", 4), || child("d", 4));
        let table: Vec<(Step, Vec<Object>, bool, Option<_>)> = vec![
            // The same desired state: another client changed or deleted it.
            (update(7), vec![child("c", 9), other()], true, Some((Drift, 1))),
            (update(7), vec![child("c", 9)], false, Some((Drift, 1))),
            (create(7), vec![other()], true, Some((Drift, 0))),
            (update(7), vec![settled(), other()], true, None),
            // Another desired state for the same request.
            (update(8), vec![settled(), other()], true, Some((OtherAnswer, 1))),
            (delete(), vec![settled(), other()], true, Some((OtherAnswer, 0))),
            // Another request: the parent, this child, another child, one more, one fewer.
            (update(8), vec![settled(), other()], false, None),
            (update(8), vec![child("c", 9), other()], true, None),
            (update(8), vec![settled(), child("d", 9)], true, None),
            (update(8), vec![settled(), other(), child("e", 1)], true, None),
            (update(8), vec![settled()], true, None),
        ];
        for (step, live, is_same_parent, expected) in table {
            let what = format!("{step:?} {live:?} {is_same_parent}");
            assert_eq!(found(&step, &live, is_same_parent), expected, "{what}");
        }
    }

    /// It is seen with a deletionTimestamp first, more than once.
    #[test]
    fn a_child_that_others_delete_slowly_is_drift_too() {
        let Step::Update(write) = update(7) else { unreachable!() };
        let mut last_applied = LastApplied::default();
        last_applied.settle([(7, child("c", 4)), (7, child("d", 4))]);
        for version in [5, 6] {
            let before = last_applied;
            last_applied = LastApplied::default();
            last_applied.settle([(7, child("d", 4))]);
            last_applied.wait(&child("c", version), &before);
            assert_eq!(last_applied.len(), 1, "it is not up to date");
        }
        let (other, created) = ([child("d", 4)], Step::Create(write.clone()));
        let drift = Some((RewriteReason::Drift, 0));
        assert_eq!(found_by(&last_applied, &created, &other, true), drift);
        let another_state = Step::Create(Write { desired_hash: 8, ..write });
        assert_eq!(found_by(&last_applied, &another_state, &other, true), None);
        last_applied.forget(created.id());
        assert_eq!(
            found_by(&last_applied, &created, &other, true),
            None,
            "we deleted it ourselves"
        );
    }

    #[test]
    fn another_response_of_the_handler_is_found_beside_a_waiting_child() {
        let before = LastApplied::default();
        for (version, expected) in [(5, Some((RewriteReason::OtherAnswer, 1))), (6, None)] {
            let mut last_applied = LastApplied::default();
            last_applied.settle([(7, child("c", 4))]);
            last_applied.wait(&child("d", 5), &before);
            let live = [child("c", 4), child("d", version)];
            assert_eq!(found_by(&last_applied, &update(8), &live, true), expected);
        }
    }

    #[test]
    fn drift_names_both_versions_and_who_changed_the_child() {
        let mut last_applied = LastApplied::default();
        last_applied.settle([(7, child("c", 4))]);
        let observed = Children::new([(pods(), vec![child("c", 9)])]);
        let plan = Plan { steps: vec![update(7)], ..Plan::default() };
        let found = rewrites(
            &plan,
            &last_applied,
            &observed,
            &|child| child.controller() == Some(parent().uid()),
            true,
        );
        let rewrite = &found[&ChildId::of(&child("c", 4))];
        assert_eq!(
            (rewrite.from.to_string(), rewrite.changed_by.as_deref()),
            ("4".into(), Some("hpa"))
        );
        assert_eq!(rewrite.to.as_ref().map(ToString::to_string).as_deref(), Some("9"));
    }
}
