//! Watch requests: their parameters, and the response that streams.

use std::{sync::Arc, time::Duration};

use futures::stream::{self, StreamExt};
use http::{HeaderValue, Response, header};
use tokio::time::Instant;

use super::{
    body::Body,
    call::Call,
    selection::Selection,
    watcher::{Start, Watcher},
};
use crate::{
    deep::Turns,
    requests::OpenWatch,
    schema::{FieldError, FieldErrorKind},
    shared::Shared,
    status::StatusError,
};

/// The default duration of a watch.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(30);

/// Answers a watch.
pub(super) fn watch(
    server: &Arc<Shared>,
    call: &Call<'_>,
    open: OpenWatch,
) -> Result<Response<Body>, StatusError> {
    let accepted = call.accepted()?;
    let selection = Selection::of(call)?;
    let start = start(call)?;
    let timeout = call.query.number("timeoutSeconds")?.filter(|seconds| *seconds > 0);
    let timeout = timeout.and_then(|seconds| u32::try_from(seconds).ok());
    let timeout = timeout.map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.into()));
    let watcher = Watcher::new(
        server,
        Arc::clone(call.resource),
        selection,
        start,
        accepted,
        call.table_options(),
        Instant::now() + timeout,
        call.query.flag("allowWatchBookmarks"),
        open,
    );
    let frames = stream::unfold(watcher, |mut watcher| async move {
        let bytes = watcher.next().await?;
        Some((bytes, watcher))
    });
    let mut response = Response::new(Body::Frames(Turns::of(frames).boxed()));
    let media = HeaderValue::from_static(accepted.format.watch_media_type());
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    Ok(response)
}

/// Where a watch begins.
fn start(call: &Call<'_>) -> Result<Start, StatusError> {
    let version = call.query.resource_version().map_err(|error| {
        let message = error.message.trim_start_matches("invalid resource version: ");
        StatusError::internal(message)
    })?;
    let initial = call.query.choice("sendInitialEvents");
    let matching = call.query.text("resourceVersionMatch");
    let forbidden = |path: &str, detail: &str| {
        let (path, detail) = (path.to_owned(), detail.to_owned());
        let error = FieldError { path, kind: FieldErrorKind::Forbidden, value: None, detail };
        Err(StatusError::invalid("meta.k8s.io", "ListOptions", "", &[error]))
    };
    match (initial, matching) {
        (None, Some(_)) => forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (Some(_), matching) if matching != Some("NotOlderThan") => forbidden(
            "resourceVersionMatch",
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (Some(true), _) => Ok(Start::State { announce_end: true }),
        (Some(false), _) => Ok(version.filter(|v| *v > 0).map_or(Start::Head, Start::After)),
        (None, _) => match version {
            // Without a version the state is streamed with a bookmark at its end, as with `sendInitialEvents`.
            None => Ok(Start::State { announce_end: true }),
            Some(0) => Ok(Start::State { announce_end: false }),
            Some(version) => Ok(Start::After(version)),
        },
    }
}
