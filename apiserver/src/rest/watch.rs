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
use crate::{deep::Turns, requests::OpenWatch, shared::Shared, status::StatusError};

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
    let seconds = call.query.number("timeoutSeconds")?.filter(|seconds| *seconds != 0);
    let is_over = seconds.is_some_and(|seconds| seconds < 0);
    let timeout = seconds.and_then(|seconds| u32::try_from(seconds).ok());
    let timeout = timeout.map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.into()));
    let watcher = Watcher::new(
        server,
        Arc::clone(call.resource),
        selection,
        start,
        accepted,
        call.table_options()?,
        Instant::now() + timeout,
        call.query.flag("allowWatchBookmarks"),
        open,
    );
    let mut late = StatusError::internal("context deadline exceeded");
    late.reason = "InternalError".into();
    let watcher = if is_over { watcher.failed(&late) } else { watcher };
    // It moves with every event.
    let frames = stream::unfold(Box::new(watcher), |mut watcher| async move {
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
    let version = call.query.resource_version()?;
    match call.query.choice("sendInitialEvents") {
        Some(true) => Ok(Start::State { announce_end: true }),
        Some(false) => Ok(version.filter(|v| *v > 0).map_or(Start::Head, Start::After)),
        // From the start it is one with initial events.
        None => Ok(match version.filter(|version| *version > 0) {
            None => Start::State { announce_end: call.query.flag("watch") },
            Some(version) => Start::After(version),
        }),
    }
}
