//! Get and list.

use http::Response;
use serde_json::Value;

use super::{
    body::Body,
    call::Call,
    list,
    page::{self, Page},
    reply,
    selection::Selection,
};
use crate::{cluster::Cluster, log::Found, status::StatusError};

/// Answers a get.
pub(super) fn get(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let key = call.key();
    match cluster.log.get(&call.resource.storage, &key) {
        Some(object) => reply::object(call, &object),
        None => Err(StatusError::not_found(&call.resource.id, &key.name)),
    }
}

/// Answers a list.
pub(super) fn list(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let (metadata, found) = find(cluster, call)?;
    list::render(call, &metadata, found.entries)
}

/// The objects that a request selects, with the metadata of their list.
pub(super) fn find(cluster: &Cluster, call: &Call<'_>) -> Result<(Value, Found), StatusError> {
    let selection = Selection::of(call)?;
    let version = exact_version(call)?;
    let page = Page::of(call)?;
    let source = (&*cluster.log, &*call.resource.storage);
    let found = page.find(source, &selection, page.version().or(version))?;
    let metadata = page::metadata(call, &found, &selection);
    Ok((metadata, found))
}

/// The one version that a list must be of, if it must.
fn exact_version(call: &Call<'_>) -> Result<Option<u64>, StatusError> {
    let version = call.query.version_of_list()?;
    let limited = call.query.text("limit").is_some_and(|limit| limit != "0");
    Ok(match (call.query.text("resourceVersionMatch"), version) {
        (Some("Exact"), version) => version,
        // The old meaning of a version together with a limit is exactly that version.
        (None, version) => version.filter(|version| limited && *version != 0),
        (Some(_), _) => None,
    })
}
