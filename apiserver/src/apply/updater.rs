//! The rules of field ownership: conflicts, transfers and pruning.
//!
//! Works on valid objects without `managedFields` and on decoded managers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    compare::Comparison,
    conflict::{Conflict, Conflicts},
    field_set::FieldSet,
    managers::{Managed, ManagerId, Managers},
    owned::field_set,
    path_element::PathElement,
    remove::remove,
    shape::Type,
};

/// How changed fields of other managers are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    /// They are a conflict.
    Ask,
    /// They are transferred.
    Force,
}

/// Whether `change` touches what others than `actor` manage.
pub(super) fn check(
    managers: &Managers,
    actor: &ManagerId,
    change: &Comparison,
) -> Result<(), Conflicts> {
    let taken = change.set();
    let others = managers.iter().filter(|(id, _)| *id != actor);
    let found = others.flat_map(|(id, managed)| {
        let paths = managed.fields.intersection(&taken).paths();
        paths.into_iter().map(|path| Conflict::new(id, path))
    });
    Conflicts::new(found.collect()).map_or(Ok(()), Err)
}

/// Removes changed and removed fields from all managers but `actor`, and drops empty entries.
pub(super) fn take(managers: &mut Managers, actor: Option<&ManagerId>, change: &Comparison) {
    let taken = change.set();
    for (_, managed) in managers.iter_mut().filter(|(id, _)| Some(*id) != actor) {
        managed.fields = managed.fields.difference(&taken).difference(&change.removed);
    }
    managers.retain(|_, managed| !managed.fields.is_empty());
}

/// Adds what an update changed to the fields of its manager.
pub(super) fn give(
    managers: &mut Managers,
    id: ManagerId,
    api_version: &str,
    now: &str,
    changed: &FieldSet,
) {
    if changed.is_empty() {
        return;
    }
    let had = managers.remove(&id).map(|managed| managed.fields).unwrap_or_default();
    let managed = Managed {
        api_version: api_version.to_owned(),
        fields: had.union(changed),
        time: Some(now.to_owned()),
    };
    managers.insert(id, managed);
}

/// The merged object without what the applier applied `last`, does not apply any more, and nobody
/// else manages. `managers` has the applier with its new fields already.
pub(super) fn prune(ty: Type<'_>, merged: &Value, managers: &Managers, last: &Managed) -> Value {
    if last.fields.is_empty() {
        return merged.clone();
    }
    let named = |set: &FieldSet| set.with_named_fields(Some(ty));
    let dropped = named(&last.fields);
    let all = named(&field_set(ty, merged));

    let mut pruned = remove(ty, merged, &dropped);
    for managed in managed_by_version(managers, &last.api_version) {
        let kept = named(&field_set(ty, &pruned)).union(&named(&managed));
        pruned = remove(ty, merged, &all.difference(&kept));
    }

    // Removing a container also removed parts that the applier never owned: they are added back.
    let gone = all.difference(&named(&field_set(ty, &pruned)));
    remove(ty, merged, &gone.intersection(&dropped))
}

/// All managed fields, those of `first` before those of other versions: the order in which the
/// real server converts and adds back, which shows where versions share a container.
fn managed_by_version(managers: &Managers, first: &str) -> Vec<FieldSet> {
    let mut versions: BTreeMap<(bool, &str), FieldSet> = BTreeMap::new();
    for managed in managers.values() {
        let version = managed.api_version.as_str();
        let fields = versions.entry((version != first, version)).or_default();
        *fields = fields.union(&managed.fields);
    }
    versions.into_values().collect()
}

/// Fields without a manager: those that identify the object, and those of the server.
pub(super) fn unmanaged() -> FieldSet {
    let of_metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let top = ["apiVersion", "kind", "metadata"].map(ToOwned::to_owned);
    let below = of_metadata.map(|field| format!("metadata.{field}"));
    paths(top.iter().chain(&below).map(String::as_str))
}

/// A set of plain field paths, written as `metadata.labels`.
pub(super) fn paths<'a>(dotted: impl Iterator<Item = &'a str>) -> FieldSet {
    let mut set = FieldSet::default();
    for path in dotted {
        let path: Vec<_> = path.split('.').map(PathElement::field).collect();
        set.insert(&path);
    }
    set
}
