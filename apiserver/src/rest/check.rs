//! What is checked of a request before it is answered.

use super::{
    call::{Call, Verb},
    list_options,
    route::ResourcePath,
};
use crate::{aside::LONG, resource::Resource, shared::Shared, status::StatusError};

/// Namespaces, for example, are not deleted as a collection.
pub(super) fn verb(
    resource: &Resource,
    path: &ResourcePath,
    verb: Verb,
) -> Result<(), StatusError> {
    let is_known = path.subresource.is_some() || resource.verbs().contains(&verb.name());
    if is_known { Ok(()) } else { Err(StatusError::method_not_allowed()) }
}

pub(super) fn scope(
    resource: &Resource,
    path: &ResourcePath,
    verb: Verb,
) -> Result<(), StatusError> {
    match (resource.namespaced, &path.namespace, verb) {
        (false, Some(_), _) => Err(StatusError::no_such_resource()),
        (true, None, Verb::Create | Verb::DeleteCollection) => {
            Err(StatusError::method_not_allowed())
        }
        (true, None, _) if path.name.is_some() => Err(StatusError::no_such_resource()),
        _ => Ok(()),
    }
}

/// Checks the parameters that are read before anything else.
pub(super) fn parameters(call: &Call<'_>) -> Result<(), StatusError> {
    match call.verb {
        Verb::List | Verb::Watch | Verb::DeleteCollection => list_options::check(call),
        Verb::Get if call.query.choice("export") == Some(true) => {
            let message = "the export parameter, deprecated since v1.14, is no longer supported";
            Err(StatusError::bad_request(message))
        }
        Verb::Get | Verb::Create | Verb::Update | Verb::Patch | Verb::Delete => Ok(()),
    }
}

/// Whether an answer may take longer than other requests should wait.
pub(super) fn takes_long(server: &Shared, call: &Call<'_>) -> bool {
    let is_long = |length: usize| length > LONG;
    let of_stored = || server.cluster.log.get(&call.resource.storage, &call.key());
    match call.verb {
        Verb::List | Verb::Watch | Verb::DeleteCollection => true,
        Verb::Create => is_long(call.body.len()),
        Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => {
            is_long(call.body.len()) || of_stored().is_some_and(|it| is_long(it.size()))
        }
    }
}
