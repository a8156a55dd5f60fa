//! One write, step by step: checks, ownership, the resulting object and its managers.

use std::collections::{BTreeMap, btree_map::Entry};

use serde_json::Value;

use super::{
    Request,
    changes::Changes,
    compare::compare,
    error::ApplyError,
    field_set::FieldSet,
    json_order::equal,
    last_applied,
    managers::{self, Managed, ManagerId, Managers},
    merge::merge,
    object, owned,
    reconcile::reconcile,
    shape::Type,
    updater::{self, Taking},
    validate::{Duplicates, validate},
    versions::Typed,
};
use crate::schema::Schema;

/// The manager of fields that exist when an object is first applied to.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";
/// The manager of a request that names none.
const UNKNOWN: &str = "unknown";

/// A write in progress: the type and the object that it starts from, without its managers.
pub(super) struct Write<'a> {
    pub(super) schema: &'a Schema,
    pub(super) before: &'a Value,
    pub(super) request: &'a Request<'a>,
}

impl Write<'_> {
    fn ty(&self) -> Type<'_> {
        Type::of_object(self.schema)
    }

    fn typed<'v>(&'v self, object: &'v Value) -> Typed<'v> {
        Typed::new(object, self.schema, self.request.versions)
    }

    /// Server-side apply.
    pub(super) fn apply(
        &self,
        applied: &Value,
        managers: Managers,
        taking: Taking,
    ) -> Result<Value, ApplyError> {
        let described = || object::describe(applied);
        validate(applied, self.ty(), Duplicates::Forbidden)
            .map_err(|errors| ApplyError::Patch { object: described(), errors })?;
        let managers = self.managers_to_start_from(managers)?;
        if self.request.manager == last_applied::KUBECTL {
            let result = self.merge_for_kubectl(applied, managers, taking)?;
            return Ok(last_applied::brought_up_to_date(result, applied));
        }
        self.merge(applied, managers, taking)
    }

    /// Fields of client-side apply do not conflict.
    fn merge_for_kubectl(
        &self,
        applied: &Value,
        managers: Managers,
        taking: Taking,
    ) -> Result<Value, ApplyError> {
        match self.merge(applied, managers.clone(), taking) {
            Err(ApplyError::Conflicts(conflicts)) => {
                let allowed = last_applied::unchanged_fields(self.ty(), self.before);
                match conflicts.outside(&allowed) {
                    Some(rest) => Err(ApplyError::Conflicts(rest)),
                    None => self.merge(applied, managers, Taking::Force),
                }
            }
            result => result,
        }
    }

    /// The managers after a create, update or patch that led to `after`.
    pub(super) fn update(
        &self,
        after: &Value,
        managers: Managers,
        manager: &str,
    ) -> Result<Managers, String> {
        let duplicates = self.duplicates(&managers);
        for object in [after, self.before] {
            validate(object, self.ty(), duplicates).map_err(|errors| errors.to_string())?;
        }
        let mut managers = self.reconciled(managers)?;
        let changes = self.changes(after, &managers)?;
        updater::take(&mut managers, None, &changes);
        let Request { api_version, subresource, now, .. } = *self.request;
        let id = ManagerId::updater(named(manager), api_version, subresource);
        let fields = changes.own.set().difference(&updater::unmanaged());
        updater::give(&mut managers, id, api_version, now, &fields);
        managers::cap_updates(&mut managers);
        Ok(managers)
    }

    /// Gives untracked fields of an existing object their own manager.
    fn managers_to_start_from(&self, managers: Managers) -> Result<Managers, ApplyError> {
        let described = || object::describe(self.before);
        validate(self.before, self.ty(), Duplicates::Allowed)
            .map_err(|errors| ApplyError::Live { object: described(), errors })?;
        if !managers.is_empty() {
            validate(self.before, self.ty(), self.duplicates(&managers))
                .map_err(|errors| ApplyError::Conversion(errors.to_string()))?;
            return self.reconciled(managers).map_err(ApplyError::Conversion);
        }
        let nothing = self.request.before(None, self.before);
        let first = Write { before: &nothing, ..*self };
        first.update(self.before, managers, BEFORE_FIRST_APPLY).map_err(ApplyError::Conversion)
    }

    fn merge(
        &self,
        applied: &Value,
        mut managers: Managers,
        taking: Taking,
    ) -> Result<Value, ApplyError> {
        let Request { manager, subresource, api_version, .. } = *self.request;
        let id = ManagerId::applier(named(manager), subresource);
        let last = self.claim(&mut managers, &id, applied);
        let merged = merge(self.ty(), Some(self.before), Some(applied));
        let merged = merged.unwrap_or_else(|| applied.clone());
        let result = match last {
            Some(last) => updater::prune(&self.typed(&merged), &managers, &last, api_version)
                .map_err(ApplyError::Conversion)?,
            None => merged,
        };
        let changes = self.changes(&result, &managers).map_err(ApplyError::Conversion)?;
        if taking == Taking::Ask {
            updater::check(&managers, &id, &changes).map_err(ApplyError::Conflicts)?;
        }
        updater::take(&mut managers, Some(&id), &changes);
        self.finish_entry(&mut managers, &id, &result);
        Ok(object::with_managed_fields(result, managers::encode(&managers)))
    }

    /// Sets the fields of the applier, and returns the previous ones.
    fn claim(&self, managers: &mut Managers, id: &ManagerId, applied: &Value) -> Option<Managed> {
        let fields =
            owned::field_set(self.ty(), applied).recursive_difference(&self.reset_fields());
        let last = managers.remove(id);
        let time = last.as_ref().and_then(|last| last.time.clone());
        let api_version = self.request.api_version.to_owned();
        managers.insert(id.clone(), Managed { api_version, fields, time });
        last
    }

    fn finish_entry(&self, managers: &mut Managers, id: &ManagerId, result: &Value) {
        let Some(managed) = managers.get_mut(id) else { return };
        managed.fields = managed.fields.difference(&updater::unmanaged());
        if !equal(self.before, result) {
            managed.time = Some(self.request.now.to_owned());
        }
        if managed.fields.is_empty() {
            managers.remove(id);
        }
    }

    /// The real server converts the object to the version of each manager, and a converted object
    /// may not have duplicates.
    fn duplicates(&self, managers: &Managers) -> Duplicates {
        let other = |managed: &Managed| managed.api_version != self.request.api_version;
        if managers.values().any(other) { Duplicates::Forbidden } else { Duplicates::Allowed }
    }

    fn reconciled(&self, mut managers: Managers) -> Result<Managers, String> {
        let live = self.typed(self.before);
        // Converted once for each version: a conversion can be a request to a webhook.
        let mut versions = BTreeMap::new();
        for managed in managers.values_mut() {
            let before = match versions.entry(managed.api_version.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(version) => version.insert(live.at(&managed.api_version)?),
            };
            managed.fields = reconcile(before.ty(), &managed.fields);
        }
        Ok(managers)
    }

    fn changes(&self, after: &Value, managers: &Managers) -> Result<Changes, String> {
        let own = compare(self.ty(), self.before, after).excluding(&self.reset_fields());
        let (before, after) = (self.typed(self.before), self.typed(after));
        Changes::between(&before, &after, own, (managers, self.request.api_version))
    }

    fn reset_fields(&self) -> FieldSet {
        updater::paths(self.request.reset.iter().copied())
    }
}

fn named(manager: &str) -> &str {
    if manager.is_empty() { UNKNOWN } else { manager }
}
