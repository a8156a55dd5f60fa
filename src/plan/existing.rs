//! What to do about a child that exists, is ours and is desired. Decides; does not act.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Deletion, DeletionReason, Memos, WaitingReason, Write,
    contained::{self, MAX_PATHS},
    owned, ownership,
};
use crate::{
    object::Object,
    operator::{OperatorConfig, OperatorName, UpdateStrategy},
};

/// What to do about a child.
#[derive(Debug)]
pub(super) enum Decision {
    /// It is as desired.
    Leave,
    /// Apply this.
    Update(Write),
    /// Delete it, to create it anew.
    Delete(Deletion),
    /// Nothing can be done now.
    Wait(WaitingReason),
}

/// Decides about a live object that the parent owns.
pub(super) fn decide(
    config: &OperatorConfig,
    operator: &OperatorName,
    memos: &Memos,
    write: Write,
    live: &Object,
) -> Decision {
    if live.is_deleting() {
        return Decision::Wait(WaitingReason::Deleting);
    }
    if memos.is_settled(&write.id, write.desired_hash, live, operator) {
        return Decision::Leave;
    }
    let paths = differences(&write.body, live, operator);
    if paths.is_empty() {
        return Decision::Leave;
    }
    differing(strategy(config, &write, &paths), write, live, paths)
}

fn differing(
    strategy: UpdateStrategy,
    write: Write,
    live: &Object,
    paths: Vec<String>,
) -> Decision {
    match strategy {
        UpdateStrategy::Apply => Decision::Update(write.updating(live.uid(), paths)),
        UpdateStrategy::Recreate => {
            let instead_of = Box::new(write.updating(live.uid(), paths.clone()));
            let why = DeletionReason::Recreate { paths, instead_of };
            Decision::Delete(Deletion::new(live, why))
        }
        UpdateStrategy::OnDelete => Decision::Wait(WaitingReason::OnDelete { paths }),
    }
}

fn strategy(config: &OperatorConfig, write: &Write, paths: &[String]) -> UpdateStrategy {
    let is_claim = |path: &String| ownership::is_claim(path, &config.labels);
    match config.child_config(&write.id.ty) {
        Some(child) if !paths.iter().all(is_claim) => child.update_strategy,
        Some(_) | None => UpdateStrategy::Apply,
    }
}

/// The paths at which a live object is not what an apply of the body should have left.
pub(super) fn differences(body: &Value, live: &Object, operator: &OperatorName) -> Vec<String> {
    let desired = without_precondition(body);
    let fields = live.applied_fields(operator.as_str());
    let mut paths = contained::differences(live.ty(), &desired, &live.to_value(), fields.as_ref());
    match fields {
        Some(fields) => paths.extend(owned::beyond(&fields, &desired)),
        // Without an entry of ours a field that we drop later would stay for ever.
        None => paths.push(ownership::MANAGED_FIELDS.to_owned()),
    }
    paths.truncate(MAX_PATHS);
    paths
}

fn without_precondition(body: &Value) -> Cow<'_, Value> {
    const FIELDS: [&str; 2] = ["uid", "resourceVersion"];
    if FIELDS.iter().all(|field| body["metadata"].get(field).is_none()) {
        return Cow::Borrowed(body);
    }
    let mut desired = body.clone();
    if let Some(metadata) = desired["metadata"].as_object_mut() {
        metadata.retain(|name, _| !FIELDS.contains(&name.as_str()));
    }
    Cow::Owned(desired)
}
