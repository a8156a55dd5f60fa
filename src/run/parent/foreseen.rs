//! What a reconcile would change in the parent itself: its finalizers, and the status fields that the handler
//! returned.
//!
//! The conditions, `observedGeneration` and the list of children are not foreseen: they depend on the answers to the
//! writes.

use serde_json::{Map, Value, json};

use super::{finalizer::FinalizerChange, status::beside};
use crate::{
    plan::{ChildrenField, StatusInput, status_patch},
    run::module_view::View,
};

const CONDITIONS: &str = "conditions";

/// A JSON merge patch; `None` when nothing would change. Without a schema it has no status.
pub(in crate::run) fn patch(view: &View<'_>, returned: Option<&Value>) -> Option<Value> {
    let finalizers = finalizers(view).map(|list| ("metadata", json!({"finalizers": list})));
    let status = status(view, returned).map(|fields| ("status", Value::Object(fields)));
    let parts = finalizers.into_iter().chain(status);
    let patch: Map<String, Value> = parts.map(|(name, part)| (name.to_owned(), part)).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn finalizers(view: &View<'_>) -> Option<Value> {
    let change = FinalizerChange::of_staying(view.settings);
    let patch = change.patch(view.settings, view.parent)?;
    patch.pointer("/metadata/finalizers").cloned()
}

fn status(view: &View<'_>, returned: Option<&Value>) -> Option<Map<String, Value>> {
    let schema = view.snapshot.schemas.known.get(view.parent.ty())?;
    let siblings = view.siblings();
    let names = view.settings.condition_names(&siblings);
    let beside = beside(view.parent, &siblings, view);
    let patch = status_patch(StatusInput {
        parent: view.parent,
        shared: view.settings.config().shares_status().then_some(view.parent),
        handler: Some(returned?),
        conditions: &[],
        cleared: &[],
        names: &names,
        beside: beside.as_ref(),
        children: ChildrenField::Kept,
        observed_generation: false,
        schema: &schema.status,
        // Only conditions have times.
        now: "",
    });
    let mut fields = patch.body?.get_mut("status")?.as_object_mut().map(std::mem::take)?;
    fields.remove(CONDITIONS);
    (!fields.is_empty()).then_some(fields)
}
