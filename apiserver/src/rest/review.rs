//! Paths without stored objects: reviews, and what does not exist.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header};

use super::{accept, body::Body, decode, options, reply, route::ResourcePath};
use crate::{
    query::Query, requests::RequestRecord, resource::Resources, reviews, shared::Shared,
    status::StatusError, users::User,
};

/// Answers a path without stored objects.
pub(super) fn beyond_resources(
    server: &Shared,
    user: &User,
    resources: &Resources,
    record: &mut RequestRecord,
    path: &ResourcePath,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response<Body>, StatusError> {
    let group = path.group.as_str();
    match reviews::find(group, &path.version, &path.plural) {
        Some(review) if path.name.is_some() || path.namespace.is_some() != review.namespaced => {
            Err(StatusError::no_such_resource())
        }
        Some(review) if record.method == "POST" => {
            "create".clone_into(&mut record.verb);
            record.resource = format!("{}.{group}", review.plural);
            let content_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
            let validation = options::checked(&Query::parse(&record.query), "CreateOptions", None)?;
            let (asked, warnings) = decode::review(review, content_type, body, validation)?;
            let answer = review
                .answer(server, user, path.namespace.as_deref(), asked)
                .map_err(|error| error.with_warnings(&warnings))?;
            let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
            let format = accept::format(accept);
            let mut response = reply::value_as(format, &answer);
            *response.status_mut() = StatusCode::CREATED;
            reply::warned(Ok(response), &warnings)
        }
        Some(_) => Err(StatusError::method_not_allowed()),
        None if group.is_empty()
            || reviews::GROUPS.contains(&group)
            || resources.has_group(group) =>
        {
            Err(StatusError::no_such_resource())
        }
        None => Ok(reply::page_not_found()),
    }
}
