//! The rules of field ownership: conflicts, transfers and pruning.
//!
//! Works on valid objects without `managedFields` and on decoded managers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    changes::Changes,
    conflict::{Conflict, Conflicts},
    field_set::FieldSet,
    managers::{Managed, ManagerId, Managers},
    owned::field_set,
    path_element::PathElement,
    remove::remove,
    versions::Typed,
};

/// How changed fields of other managers are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    /// They are a conflict.
    Ask,
    /// They are transferred.
    Force,
}

/// Whether a write touches what others than `actor` manage.
pub(super) fn check(
    managers: &Managers,
    actor: &ManagerId,
    changes: &Changes,
) -> Result<(), Conflicts> {
    let others = managers.iter().filter(|(id, _)| *id != actor);
    let found = others.flat_map(|(id, managed)| {
        let change = changes.at(&managed.api_version);
        let paths = managed.fields.intersection(&change.set()).paths();
        paths.into_iter().map(|path| Conflict::new(id, path))
    });
    Conflicts::new(found.collect()).map_or(Ok(()), Err)
}

/// Removes changed and removed fields from all managers but `actor`, and drops empty entries.
pub(super) fn take(managers: &mut Managers, actor: Option<&ManagerId>, changes: &Changes) {
    for (_, managed) in managers.iter_mut().filter(|(id, _)| Some(*id) != actor) {
        let change = changes.at(&managed.api_version);
        managed.fields = managed.fields.difference(&change.set()).difference(&change.removed);
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
///
/// # Errors
/// Why the object is none of a version in which fields are managed.
pub(super) fn prune(
    merged: &Typed<'_>,
    managers: &Managers,
    last: &Managed,
    api_version: &str,
) -> Result<Value, String> {
    if last.fields.is_empty() {
        return Ok(merged.object.clone().into_owned());
    }
    let whole =
        merged.at(&last.api_version).map_err(failed("merged object to last applied version"))?;
    let dropped = named(&whole, &last.fields);
    let mut pruned = whole.with(remove(whole.ty(), &whole.object, &dropped));
    for (version, managed) in managed_by_version(managers, &last.api_version) {
        let at_version = |what: &str| failed(&format!("{what} object at version {version}"));
        let whole = whole.at(version).map_err(at_version("merged"))?;
        let rest = pruned.at(version).map_err(at_version("pruned"))?;
        let kept = all(&rest).union(&named(&whole, &managed));
        pruned = whole.with(remove(whole.ty(), &whole.object, &all(&whole).difference(&kept)));
    }

    // Removing a container also removed parts that the applier never owned: they are added back.
    let rest = pruned.at(&last.api_version)?;
    let gone = all(&whole).difference(&all(&rest)).intersection(&dropped);
    let result = whole.with(remove(whole.ty(), &whole.object, &gone)).at(api_version)?;
    Ok(result.object.into_owned())
}

fn failed(what: &str) -> impl Fn(String) -> String + use<> {
    let what = what.to_owned();
    move |why| format!("failed to prune fields: failed to convert {what}: {why}")
}

/// All fields of an object.
fn all(object: &Typed<'_>) -> FieldSet {
    named(object, &field_set(object.ty(), &object.object))
}

fn named(object: &Typed<'_>, set: &FieldSet) -> FieldSet {
    set.with_named_fields(Some(object.ty()))
}

/// All managed fields, those of `first` before those of other versions: the order in which the
/// real server converts and adds back, which shows where versions share a container.
fn managed_by_version<'m>(
    managers: &'m Managers,
    first: &str,
) -> impl Iterator<Item = (&'m str, FieldSet)> {
    let mut versions: BTreeMap<(bool, &str), FieldSet> = BTreeMap::new();
    for managed in managers.values() {
        let version = managed.api_version.as_str();
        let fields = versions.entry((version != first, version)).or_default();
        *fields = fields.union(&managed.fields);
    }
    versions.into_iter().map(|((_, version), fields)| (version, fields))
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
