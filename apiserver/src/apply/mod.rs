//! Server-side apply and the tracking of who manages which field.
//!
//! Pure functions over JSON values: what to store, given what is stored and what was sent, as
//! kube-apiserver 1.37 decides it. Objects are in the version of the request.
//!
//! Not done here, but by the caller:
//! - before [`track_update`], `after` is defaulted and pruned, and the `metadata` of a custom
//!   resource holds no empty values (the real server drops them when it decodes the request, which
//!   is why `managedFields: []` resets the managers of built-in objects only);
//! - after [`apply`], the result is defaulted and pruned if fields have changed;
//! - after both, `metadata` of the server and fields that the endpoint ignores are restored, and then
//!   [`ignore_timestamps`] is called;
//! - validation of values, admission, and the check of `metadata.uid` and `resourceVersion`.
//!
//! Not supported: versions of built-in types whose fields differ (an entry of another version is read as if it were of this
//! one), and dropping entries of versions that are not served any more.

mod changes;
mod compare;
mod conflict;
mod error;
mod field_set;
mod fields_v1;
mod go_format;
mod json_order;
mod last_applied;
mod list_key;
mod managers;
mod merge;
mod object;
mod object_meta;
mod overlay;
mod owned;
mod path_element;
mod reconcile;
mod remove;
mod request;
mod scale;
mod shape;
mod updater;
mod validate;
mod versions;
mod walk;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    go_format::type_name,
    object::{describe, describe_type},
    overlay::overlay,
    scale::{ReplicasPaths, VERSION as SCALE_VERSION, managers_of_parent, managers_of_scale},
};
pub use conflict::{Cause, Conflict, Conflicts};
pub use error::ApplyError;
pub use managers::Operation;
pub use request::Request;
pub use validate::TypeErrors;
pub use versions::Versions;

use serde_json::Value;

use self::{managers::Managers, updater::Taking, write::Write};
use crate::schema::Schema;

/// Server-side apply: the object to store, with `metadata.managedFields`. Without `live` it is
/// created. `live` itself, times included, when there is nothing to change; a caller that changes
/// the result (defaulting) calls [`ignore_timestamps`] afterwards.
pub fn apply(
    live: Option<&Value>,
    applied: &Value,
    force: bool,
    schema: &Schema,
    request: &Request<'_>,
) -> Result<Value, ApplyError> {
    if object::api_version(applied) != Some(request.api_version) {
        return Err(ApplyError::WrongType(object::describe_type(applied)));
    }
    if object::managed_fields(applied).is_some_and(|given| !given.is_null()) {
        return Err(ApplyError::ManagedFieldsGiven);
    }
    let managers = managers::decode(live.and_then(object::managed_fields));
    let managers = managers.map_err(ApplyError::ManagedFields)?;
    let before = request.before(live, applied);
    let write = Write { schema, before: &before, request };
    let taking = if force { Taking::Force } else { Taking::Ask };
    let stored = write.apply(applied, managers, taking)?;
    Ok(match live {
        Some(live) => ignore_timestamps(live, stored),
        None => stored,
    })
}

/// After a create, update or patch: `after` with `managedFields` brought up to date from `before`
/// (`None` when created).
pub fn track_update(
    before: Option<&Value>,
    after: Value,
    schema: &Schema,
    request: &Request<'_>,
) -> Value {
    let managers = known_managers(before, &after, request.subresource.is_some());
    let untracked = managers.is_empty() && before.is_some_and(object::has_uid);
    let live = request.before(before, &after);
    let after = object::with_managed_fields(after, None);
    if untracked {
        return after;
    }
    let write = Write { schema, before: &live, request };
    // Of an object that cannot be tracked the managers stay what they were.
    let Ok(managers) = write.update(&after, managers, request.manager) else {
        return object::with_managed_fields(
            after,
            before.and_then(object::managed_fields).cloned(),
        );
    };
    let tracked = object::with_managed_fields(after, managers::encode(&managers));
    match before {
        Some(before) => ignore_timestamps(before, tracked),
        None => tracked,
    }
}

/// `after` with the times of `before` in `managedFields` if only those times differ, so that a write
/// without a change has no effect.
pub fn ignore_timestamps(before: &Value, after: Value) -> Value {
    let (Some(old), Some(new)) = (object::managed_fields(before), object::managed_fields(&after))
    else {
        return after;
    };
    let same = without_times(old) == without_times(new) && is_same(before, &after);
    if same { before.clone() } else { after }
}

/// Whether an apply has changed nothing but managers: its result is then not defaulted.
pub(crate) fn is_same(live: &Value, applied: &Value) -> bool {
    let fields = object::without_managed_fields;
    json_order::equal(&fields(live), &fields(applied))
}

fn without_times(managed_fields: &Value) -> Vec<Value> {
    let mut entries = managed_fields.as_array().cloned().unwrap_or_default();
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    entries
}

/// The managers before an update: those of the request, so that they can be edited, or else those of the
/// stored object, so that a client that does not send them does not remove them.
fn known_managers(before: Option<&Value>, after: &Value, through_subresource: bool) -> Managers {
    let stored = || managers::decode(before.and_then(object::managed_fields)).unwrap_or_default();
    let given = object::managed_fields(after);
    if through_subresource {
        return stored();
    }
    if managers::is_reset(given) {
        return Managers::new();
    }
    match managers::decode(given) {
        Ok(given) if !given.is_empty() => given,
        _ => stored(),
    }
}
