//! What to do about a child that exists, is ours and is desired. Decides; does not act.

use serde_json::Value;

use super::{Contested, Deletion, DeletionReason, LastApplied, Write, claim, ownership};
use crate::{
    diff::differences::Differences,
    object::Object,
    operator::{Labels, OperatorConfig, OperatorName, UpdateStrategy},
};

const FINALIZERS: &str = ".metadata.finalizers";

#[derive(Debug)]
pub(super) enum Choice {
    /// It is up to date, apart from these paths, which the server changes whenever it is applied.
    UpToDate {
        altered: Vec<String>,
    },
    Update(Write),
    /// Delete it, to create it again.
    Delete(Deletion),
    /// It changes only when it is deleted; this is the update that is not sent.
    OnDelete(Write),
    WaitForDeletion,
    /// Others own fields of it, and it has not changed since that was found.
    Contested(Contested),
}

pub(super) fn decide(
    config: &OperatorConfig,
    operator: &OperatorName,
    last_applied: &LastApplied,
    write: Write,
    live: &Object,
) -> Choice {
    if live.is_deleting() {
        return ending(write, live, operator);
    }
    let contested = last_applied.contested_for(&write);
    if let Some(known) = contested.filter(|known| known.is_about(live)) {
        return Choice::Contested(Contested { left: live.clone(), ..known.clone() });
    }
    if last_applied.is_settled(&write, live) {
        return Choice::UpToDate { altered: last_applied.altered_of(&write.id) };
    }
    if write.ensure {
        return ensured(write, live, operator, &config.labels);
    }
    let differences = write.differences(live, operator);
    match strategy(&write, &differences, &config.labels) {
        Some(strategy) if !is_as_left(last_applied, &write, live, operator, &differences) => {
            differing(strategy, write, live, differences.paths())
        }
        Some(_) => Choice::UpToDate { altered: differences.changed_paths() },
        None => Choice::UpToDate { altered: Vec::new() },
    }
}

/// Its end may wait for just the finalizer that is no longer desired.
fn ending(write: Write, live: &Object, operator: &OperatorName) -> Choice {
    if is_held_by_us(&write, live, operator) {
        Choice::Update(write.updating(live.uid(), vec![FINALIZERS.to_owned()]))
    } else {
        Choice::WaitForDeletion
    }
}

/// Whether it has a finalizer that we applied and that is no longer desired.
fn is_held_by_us(write: &Write, live: &Object, operator: &OperatorName) -> bool {
    let applied = live.applied_fields(operator.as_str()).filter(|_| !write.ensure);
    let applied = applied.as_ref().and_then(|it| it.field("metadata")?.field("finalizers"));
    let desired = write.body["metadata"]["finalizers"].as_array();
    let is_desired = |held: &Value| desired.is_some_and(|desired| desired.contains(held));
    applied.is_some_and(|applied| applied.values().iter().any(|held| !is_desired(held)))
}

/// Its content is not compared; a lost claim of the parent is fixed under every update strategy.
fn ensured(write: Write, live: &Object, operator: &OperatorName, labels: &Labels) -> Choice {
    let unclaimed = claim::unclaimed(&write.body, live, labels);
    if unclaimed.is_empty() {
        return Choice::UpToDate { altered: Vec::new() };
    }
    let claim = claim::claim(&write.body, live, operator, labels);
    Choice::Update(write.claiming(live, claim, unclaimed))
}

/// Whether the object differs only where it already differed after the last apply: applying the
/// same again would change nothing.
fn is_as_left(
    last_applied: &LastApplied,
    write: &Write,
    live: &Object,
    operator: &OperatorName,
    differences: &Differences,
) -> bool {
    last_applied
        .left_alike(write, live, operator)
        .is_some_and(|left| differences.is_within(&write.differences(left, operator)))
}

fn differing(strategy: UpdateStrategy, write: Write, live: &Object, paths: Vec<String>) -> Choice {
    match strategy {
        UpdateStrategy::Apply => Choice::Update(write.updating(live.uid(), paths)),
        UpdateStrategy::Recreate => {
            let instead_of = Box::new(write.updating(live.uid(), paths.clone()));
            let why = DeletionReason::Recreate { paths, instead_of };
            Choice::Delete(Deletion::new(live, why))
        }
        UpdateStrategy::OnDelete => Choice::OnDelete(write.updating(live.uid(), paths)),
    }
}

/// `None` when there is nothing to do. Lost ownership is fixed in place: only an object that
/// differs from what the handler asked for is recreated.
fn strategy(write: &Write, differences: &Differences, labels: &Labels) -> Option<UpdateStrategy> {
    let Differences { changed, lost } = differences;
    let strategy = write.config.update_strategy;
    let is_claim = |path: &String| ownership::is_claim(path, labels);
    match (changed.is_empty(), lost.is_empty(), strategy) {
        (true, true, _) | (true, false, UpdateStrategy::OnDelete) => None,
        _ if changed.iter().all(is_claim) => Some(UpdateStrategy::Apply),
        _ => Some(strategy),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        diff::hash,
        object::{K8sType, KeptManagers},
        operator::ChildConfig,
        plan::ChildId,
    };

    /// A policy rewrites all annotations of what we apply; of the empty list we own nothing.
    fn service(version: &str, addresses: &Value) -> Object {
        let annotations: Value = NAMES.chars().map(|name| (name.to_string(), "policy")).collect();
        let owned: Value = NAMES.chars().map(|name| (format!("f:{name}"), json!({}))).collect();
        let value = json!({
            "metadata": {
                "name": "a", "uid": "u", "resourceVersion": version, "annotations": annotations,
                "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": {
                    "f:metadata": {"f:annotations": owned},
                }}],
            },
            "spec": {"externalIPs": addresses},
        });
        Object::from_value(&ty(), &value, &KeptManagers::new(["op"])).unwrap()
    }

    const NAMES: &str = "abcdefghijklm";

    fn ty() -> K8sType {
        K8sType::cluster_scoped("v1", "Service", "services")
    }

    /// Its end waits for us otherwise.
    #[test]
    fn a_terminating_child_is_changed_only_to_remove_our_finalizer() {
        let operator = OperatorName::new("op").unwrap();
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let config = config.child_of_type(ty(), ChildConfig::apply());
        let live = |owner: &str| {
            let value = json!({"metadata": {
                "name": "a", "uid": "u", "resourceVersion": "7", "finalizers": ["x/mine", "x/other"],
                "deletionTimestamp": "2026-01-01T00:00:00Z",
                "managedFields": [{"manager": owner, "operation": "Apply", "fieldsV1": {
                    "f:metadata": {"f:finalizers": {"v:\"x/mine\"": {}}},
                }}],
            }});
            Object::from_value(&ty(), &value, &KeptManagers::new(["op"])).unwrap()
        };
        for (owner, desired, ensure, expected) in [
            ("op", json!({}), false, Some(vec![FINALIZERS.to_owned()])),
            ("op", json!({"finalizers": ["x/new"]}), false, Some(vec![FINALIZERS.to_owned()])),
            ("op", json!({"finalizers": ["x/mine"]}), false, None),
            ("op", json!({}), true, None),
            ("other", json!({}), false, None),
        ] {
            let mut body =
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
            body["metadata"].as_object_mut().unwrap().extend(desired.as_object().unwrap().clone());
            let write = Write::new(ChildId::of(&live(owner)), body, 0, ChildConfig::apply());
            let write = Write { ensure, ..write };
            let choice = decide(&config, &operator, &LastApplied::default(), write, &live(owner));
            let paths = match choice {
                Choice::Update(write) => Some(write.paths),
                Choice::WaitForDeletion => None,
                other => panic!("{other:?}"),
            };
            assert_eq!(paths, expected, "{owner} {desired} {ensure}");
        }
    }

    #[test]
    fn a_new_difference_beyond_the_reported_paths_is_found() {
        let operator = OperatorName::new("op").unwrap();
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let config = config.child_of_type(ty(), ChildConfig::apply());
        let annotations: Value = NAMES.chars().map(|name| (name.to_string(), "ours")).collect();
        let body = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "a", "annotations": annotations}, "spec": {"externalIPs": []},
        });
        let desired_hash = hash::within(usize::MAX, &body).unwrap();
        let left = service("7", &Value::Null);
        let write = || {
            let id = ChildId::of(&left);
            Write::new(id, body.clone(), desired_hash, ChildConfig::apply())
        };
        let mut last_applied = LastApplied::default();
        last_applied.remember(&crate::plan::Settled::new(&write(), &left, &operator));
        let alike = service("8", &Value::Null);
        let filled = service("8", &json!(["192.0.2.1"]));
        for (live, is_left) in [(&alike, true), (&filled, false)] {
            let decision = decide(&config, &operator, &last_applied, write(), live);
            match decision {
                Choice::UpToDate { altered } => assert_eq!((is_left, altered.len()), (true, 10)),
                Choice::Update(write) => assert_eq!((is_left, write.paths.len()), (false, 10)),
                other => panic!("{other:?}"),
            }
        }
    }
}
