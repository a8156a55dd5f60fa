//! What to do when a write or a delete answered 409 and the object was read live. Decides anew
//! with the live object; how often that may happen in a run is for the caller to limit.

use super::{
    ChildId, Deletion, DeletionReason, Memos, WaitingReason, Write,
    existing::{self, Decision},
    ownership::is_ours,
};
use crate::{
    object::{Object, ResourceVersion, Uid},
    operator::{OperatorConfig, OperatorName},
};

/// What to do after a write answered 409.
#[derive(Debug, Clone)]
pub enum AfterConflict {
    /// It is gone: create it.
    CreateAgain(Write),
    /// It is ours (its label was stripped, a reply got lost, it changed meanwhile): update it.
    ApplyWithUid(Write),
    /// It is ours and differs, and its type is recreated.
    Recreate(Deletion),
    /// It is ours and as desired.
    Settled,
    /// It is ours and nothing can be done now; its next change tells.
    Wait(WaitingReason),
    /// It is somebody else's: no write until it changes.
    Foreign(ForeignChild),
}

/// An object that is not ours, where a child should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignChild {
    /// The child that it stands in the way of.
    pub id: ChildId,
    /// Its uid.
    pub uid: Uid,
    /// Its version: a later one is worth another try.
    pub version: ResourceVersion,
    /// Whose it is, for people.
    pub owner: String,
}

/// What to do after a delete answered 409.
#[derive(Debug, Clone)]
pub enum AfterDeleteConflict {
    /// The object is gone; what has its name now is another one.
    Gone,
    /// It changed, and is still to be deleted.
    Again(Deletion),
    /// It changed, and is now terminating, as desired or better left alone.
    Keep,
    /// It is no longer ours.
    NotOurs,
}

/// Decides after a create or an update answered 409.
pub fn after_conflict(
    config: &OperatorConfig,
    operator: &OperatorName,
    parent: &Object,
    write: Write,
    live: Option<&Object>,
) -> AfterConflict {
    let Some(live) = live else { return AfterConflict::CreateAgain(write.creating()) };
    if live.is_deleting() {
        return AfterConflict::Wait(WaitingReason::Deleting);
    }
    if !is_ours(parent, live) {
        return AfterConflict::Foreign(ForeignChild::new(live));
    }
    match existing::decide(config, operator, &Memos::default(), write, live) {
        Decision::Leave => AfterConflict::Settled,
        Decision::Update(write) => AfterConflict::ApplyWithUid(write),
        Decision::Delete(deletion) => AfterConflict::Recreate(deletion),
        Decision::Wait(why) => AfterConflict::Wait(why),
    }
}

/// Decides after a delete answered 409.
pub fn after_delete_conflict(
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
    if !is_ours(parent, live) {
        return AfterDeleteConflict::NotOurs;
    }
    let DeletionReason::Recreate { paths: _, instead_of } = &deletion.why else {
        return AfterDeleteConflict::Again(Deletion::new(live, DeletionReason::Undesired));
    };
    let write = Write::clone(instead_of);
    match existing::decide(config, operator, &Memos::default(), write, live) {
        Decision::Delete(deletion) => AfterDeleteConflict::Again(deletion),
        Decision::Leave | Decision::Update(_) | Decision::Wait(_) => AfterDeleteConflict::Keep,
    }
}

impl ForeignChild {
    fn new(live: &Object) -> Self {
        Self {
            id: ChildId::of(live),
            uid: live.uid().clone(),
            version: live.resource_version().clone(),
            owner: describe_owner(live),
        }
    }
}

fn describe_owner(live: &Object) -> String {
    let metadata = live.field("metadata").unwrap_or_default();
    let owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    let controller = owners.into_iter().find(|owner| owner["controller"] == true);
    controller.map_or_else(
        || "it has no controller".to_owned(),
        |owner| {
            let text = |name: &str| owner[name].as_str().unwrap_or_default().to_owned();
            let (kind, name, uid) = (text("kind"), text("name"), text("uid"));
            format!("it is controlled by {kind} {name} (uid {uid})")
        },
    )
}
