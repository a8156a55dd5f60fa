//! What to do when a write or a delete answered 409 and the object was read live. Decides again
//! with the live object; the caller limits how often that happens in a reconcile.

use super::{
    ChildId, Deletion, DeletionReason, LastApplied, WaitingReason, Write, claim,
    existing::{self, Choice},
    ownership::{claimant, is_ours},
};
use crate::{
    object::{Object, ResourceVersion, Uid, quoted},
    operator::{OperatorConfig, OperatorName},
};

/// What to do after a write answered 409.
#[derive(Debug, Clone)]
pub(crate) enum AfterConflict {
    /// It is gone: create it.
    CreateAgain(Write),
    /// It is ours (its label was stripped, a reply got lost, it changed meanwhile): update it.
    ApplyWithUid(Write),
    /// It is ours and differs, and its type is recreated.
    Recreate(Deletion),
    /// It is ours and up to date.
    Settled,
    /// It is ours and cannot be changed now; its next change wakes the parent.
    Wait(WaitingReason),
    /// It has no controller, and its type is adopted.
    Adopt(Write),
    /// The same for an ensured child, whose content stays.
    Claim(Write),
    /// It is not ours: no write until it changes.
    Foreign(ForeignChild),
}

/// An object that has the name of a child and is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignChild {
    /// The child that has its name.
    pub(crate) id: ChildId,
    pub(crate) uid: Uid,
    /// Its version: a later one is a reason to try again.
    pub(crate) version: ResourceVersion,
    /// Its owner, as text for users.
    pub(crate) owner: String,
    /// Whether its type could be configured to adopt it.
    pub(crate) is_adoptable: bool,
    /// Whether another operator manages it for the same parent.
    pub(crate) is_claimed: bool,
}

/// What to do after a delete answered 409.
#[derive(Debug, Clone)]
pub(crate) enum AfterDeleteConflict {
    /// The object is gone; another object has its name.
    Gone,
    /// It changed, and is still to be deleted.
    Again(Deletion),
    /// It changed, and is now terminating, up to date or not to be modified.
    Keep,
    NotOurs,
}

pub(crate) fn after_conflict(
    config: &OperatorConfig,
    operator: &OperatorName,
    parent: &Object,
    write: Write,
    live: Option<&Object>,
) -> AfterConflict {
    let Some(live) = live else { return AfterConflict::CreateAgain(write.creating()) };
    if live.is_deleting() {
        return AfterConflict::Wait(WaitingReason::deleting(live));
    }
    if !is_ours(config, operator, parent, live) {
        // The refusal names the other parent of a child.
        let may_be_of_parent =
            live.controller().is_none_or(|controller| controller == parent.uid());
        if may_be_of_parent && let Some(other) = claimant(config, operator, live) {
            return AfterConflict::Foreign(ForeignChild::of_both(&write, live, operator, &other));
        }
        return match write {
            write if !write.config.adopt || live.controller().is_some() => {
                AfterConflict::Foreign(ForeignChild::new(&write, live))
            }
            write if write.ensure => {
                let claim = claim::claim(&write.body, live, operator, &config.labels);
                AfterConflict::Claim(write.claiming(live, claim, Vec::new()))
            }
            write => AfterConflict::Adopt(write.taking_initial_fields(live)),
        };
    }
    let write = write.keeping_initial_fields(live, operator);
    match existing::decide(config, operator, &LastApplied::default(), write, live) {
        // Nothing is remembered here, so no conflict is known.
        Choice::UpToDate { .. } | Choice::Contested(_) => AfterConflict::Settled,
        Choice::Update(write) => AfterConflict::ApplyWithUid(write),
        Choice::Delete(deletion) => AfterConflict::Recreate(deletion),
        Choice::WaitForDeletion => AfterConflict::Wait(WaitingReason::deleting(live)),
        Choice::OnDelete(write) => {
            AfterConflict::Wait(WaitingReason::OnDelete { paths: write.paths })
        }
    }
}

impl AfterConflict {
    /// The same for a child of another living parent: it is not adopted. It has no controller, because
    /// it outlives its parent.
    pub(crate) fn unless_of(self, other: &Object, live: &Object) -> Self {
        match self {
            Self::Adopt(write) | Self::Claim(write) => {
                let owner = format!("it is a child of {}", ChildId::of(other));
                let foreign = ForeignChild { owner, ..ForeignChild::new(&write, live) };
                Self::Foreign(foreign)
            }
            other => other,
        }
    }
}

pub(crate) fn after_delete_conflict(
    config: &OperatorConfig,
    operator: &OperatorName,
    parent: &Object,
    deletion: &Deletion,
    live: Option<&Object>,
) -> AfterDeleteConflict {
    let is_meant = |live: &&Object| *live.uid() == deletion.uid;
    let Some(live) = live.filter(is_meant) else { return AfterDeleteConflict::Gone };
    if live.is_deleting() {
        return AfterDeleteConflict::Keep;
    }
    if !is_ours(config, operator, parent, live) {
        return AfterDeleteConflict::NotOurs;
    }
    let (DeletionReason::Recreate { instead_of, .. }
    | DeletionReason::Immutable { instead_of, .. }) = &deletion.why
    else {
        return AfterDeleteConflict::Again(Deletion::new(live, DeletionReason::Undesired));
    };
    let write = Write::clone(instead_of);
    let is_immutable = matches!(deletion.why, DeletionReason::Immutable { .. });
    match existing::decide(config, operator, &LastApplied::default(), write, live) {
        Choice::Delete(deletion) => AfterDeleteConflict::Again(deletion),
        Choice::Update(_) if is_immutable => {
            AfterDeleteConflict::Again(Deletion::new(live, deletion.why.clone()))
        }
        Choice::UpToDate { .. }
        | Choice::Update(_)
        | Choice::OnDelete(_)
        | Choice::WaitForDeletion
        | Choice::Contested(_) => AfterDeleteConflict::Keep,
    }
}

/// The deletion of a child with fields that the server would not change, if it is still ours.
pub(crate) fn instead_of_immutable(
    config: &OperatorConfig,
    operator: &OperatorName,
    parent: &Object,
    write: &Write,
    live: &Object,
    paths: Vec<String>,
) -> Option<Deletion> {
    let is_meant = is_ours(config, operator, parent, live) && !live.is_deleting();
    let instead_of = Box::new(write.clone());
    is_meant.then(|| Deletion::new(live, DeletionReason::Immutable { paths, instead_of }))
}

impl ForeignChild {
    /// Whether it has a controller, which is another object.
    pub(crate) fn has_controller(&self) -> bool {
        self.owner != NO_CONTROLLER
    }

    /// A child that two operators return.
    fn of_both(write: &Write, live: &Object, operator: &OperatorName, other: &str) -> Self {
        let other = quoted(other);
        let owner = format!("the operator {other} manages it, and `{operator}` returns it too");
        Self { owner, is_claimed: true, ..Self::new(write, live) }
    }

    fn new(write: &Write, live: &Object) -> Self {
        Self {
            is_claimed: false,
            is_adoptable: !write.config.delete_with_finalizer,
            id: ChildId::of(live),
            uid: live.uid().clone(),
            version: live.resource_version().clone(),
            owner: describe_owner(live),
        }
    }
}

const NO_CONTROLLER: &str = "it has no controller";

fn describe_owner(live: &Object) -> String {
    let metadata = live.field("metadata").unwrap_or_default();
    let owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    let controller = owners.into_iter().find(|owner| owner["controller"] == true);
    controller.map_or_else(
        || NO_CONTROLLER.to_owned(),
        |owner| {
            let text = |name: &str| owner[name].as_str().unwrap_or_default().to_owned();
            let (kind, name, uid) = (text("kind"), text("name"), text("uid"));
            format!("it is controlled by {kind} {name} (uid {uid})")
        },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, ObjectKey},
        operator::ChildConfig,
    };

    fn pod_type() -> K8sType {
        K8sType::namespaced("v1", "Pod", "pods")
    }

    fn config() -> OperatorConfig {
        let parent = K8sType::namespaced("example.com/v1", "App", "apps");
        OperatorConfig::new("op", parent).child_of_type(pod_type(), ChildConfig::recreate())
    }

    fn object(ty: &K8sType, uid: &str, more: &Value) -> Object {
        let mut value = json!({"metadata": {
            "name": "a", "namespace": "ns", "uid": uid, "resourceVersion": "9",
            "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": {
                "f:metadata": {"f:labels": {"f:l": {}}}, "f:spec": {"f:x": {}},
            }}],
            "labels": {"l": "v"},
        }});
        let metadata = value["metadata"].as_object_mut().unwrap();
        metadata.extend(more["metadata"].as_object().cloned().unwrap_or_default());
        value["spec"] = more["spec"].clone();
        Object::from_value(ty, &value, &KeptManagers::new(["op"])).unwrap()
    }

    fn pod(uid: &str, x: i32, more: &Value) -> Object {
        let mut metadata = json!({"ownerReferences": [{"uid": "p", "controller": true}]});
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object(&pod_type(), uid, &json!({"metadata": metadata, "spec": {"x": x}}))
    }

    fn write(config: ChildConfig) -> Write {
        let body = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "ns", "labels": {"l": "v"}},
            "spec": {"x": 1},
        });
        let id = ChildId { ty: pod_type(), key: ObjectKey::namespaced("ns", "a") };
        Write::new(id, body, 0, config)
    }

    fn deletions() -> [Deletion; 2] {
        let (instead_of, paths) =
            (Box::new(write(ChildConfig::recreate())), vec![".spec.x".to_owned()]);
        let old = pod("u", 0, &json!({}));
        [
            Deletion::new(&old, DeletionReason::Undesired),
            Deletion::new(&old, DeletionReason::Recreate { paths, instead_of }),
        ]
    }

    #[test]
    fn an_immutable_child_is_deleted_only_while_it_is_ours_and_still_differs() {
        let (operator, paths) = (OperatorName::new("op").unwrap(), vec![".spec.x".to_owned()]);
        let parent = object(&config().parent, "p", &json!({}));
        let (config, write) = (config(), write(ChildConfig::apply().recreate_if_immutable()));
        let stranger = pod("u", 0, &json!({"ownerReferences": []}));
        assert!(
            instead_of_immutable(&config, &operator, &parent, &write, &stranger, Vec::new())
                .is_none()
        );
        let old = pod("u", 0, &json!({}));
        let deletion =
            instead_of_immutable(&config, &operator, &parent, &write, &old, paths).unwrap();
        for (live, again) in [(pod("u", 2, &json!({})), true), (pod("u", 1, &json!({})), false)] {
            let after = after_delete_conflict(&config, &operator, &parent, &deletion, Some(&live));
            assert_eq!(matches!(after, AfterDeleteConflict::Again(_)), again, "{after:?}");
        }
    }

    #[test]
    fn only_an_object_without_a_controller_is_adopted_and_only_if_configured() {
        let operator = OperatorName::new("op").unwrap();
        let parent = object(&config().parent, "p", &json!({}));
        let adopting = ChildConfig::apply().adopting();
        let uncontrolled = json!({"ownerReferences": [{"uid": "x"}]});
        let controlled = json!({"ownerReferences": [{"uid": "x", "controller": true}]});
        let terminating =
            json!({"ownerReferences": [], "deletionTimestamp": "2026-01-01T00:00:00Z"});
        for (own, metadata, expected) in [
            (adopting, &uncontrolled, "adopt"),
            (adopting, &controlled, "foreign"),
            (adopting, &terminating, "wait"),
            (ChildConfig::apply(), &uncontrolled, "foreign"),
        ] {
            let live = pod("u", 0, metadata);
            let after = after_conflict(&config(), &operator, &parent, write(own), Some(&live));
            let after = match after {
                AfterConflict::Adopt(_) => "adopt",
                AfterConflict::Foreign(_) => "foreign",
                AfterConflict::Wait(_) => "wait",
                _ => "other",
            };
            assert_eq!(after, expected, "{metadata}");
        }
    }

    /// As after a create of ours whose response was lost.
    #[test]
    fn a_refused_create_of_an_existing_child_is_a_write_only_if_it_differs() {
        let operator = OperatorName::new("op").unwrap();
        let config = config();
        let parent = object(&config.parent, "p", &json!({}));
        for (x, expected) in [(1, "settled"), (2, "apply to u")] {
            let live = pod("u", x, &json!({}));
            let write = write(ChildConfig::apply()).creating();
            let after = match after_conflict(&config, &operator, &parent, write, Some(&live)) {
                AfterConflict::Settled => "settled".to_owned(),
                AfterConflict::ApplyWithUid(write) => {
                    format!("apply to {}", write.body["metadata"]["uid"].as_str().unwrap())
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(after, expected);
        }
    }

    #[test]
    fn a_refused_delete_is_decided_again_with_the_live_object() {
        let operator = OperatorName::new("op").unwrap();
        let parent = object(&config().parent, "p", &json!({}));
        let deleting = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        for (live, [undesired, recreate]) in [
            (None, ["gone", "gone"]),
            (Some(pod("v", 0, &json!({}))), ["gone", "gone"]),
            (Some(pod("u", 0, &deleting)), ["keep", "keep"]),
            (Some(pod("u", 0, &json!({"ownerReferences": []}))), ["not ours", "not ours"]),
            (Some(pod("u", 2, &json!({}))), ["again @9", "again @9"]),
            (Some(pod("u", 1, &json!({}))), ["again @9", "keep"]),
        ] {
            let decided = deletions().map(|deletion| {
                let live = live.as_ref();
                match after_delete_conflict(&config(), &operator, &parent, &deletion, live) {
                    AfterDeleteConflict::Gone => "gone".to_owned(),
                    AfterDeleteConflict::Again(again) => format!("again @{}", again.version),
                    AfterDeleteConflict::Keep => "keep".to_owned(),
                    AfterDeleteConflict::NotOurs => "not ours".to_owned(),
                }
            });
            assert_eq!(decided, [undesired, recreate], "{live:?}");
        }
    }

    #[test]
    fn a_refused_write_of_a_child_that_is_gone_is_a_create() {
        let operator = OperatorName::new("op").unwrap();
        let parent = object(&config().parent, "p", &json!({}));
        let update = write(ChildConfig::recreate()).updating(&Uid::new("u"), Vec::new());
        match after_conflict(&config(), &operator, &parent, update, None) {
            AfterConflict::CreateAgain(write) => {
                let metadata = &write.body["metadata"];
                assert_eq!(
                    (&metadata["resourceVersion"], metadata.get("uid")),
                    (&json!("1"), None)
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
