//! Streamed lists of servers that do not support them.

use super::*;

/// The server ignores `sendInitialEvents`, and no object of the type changes.
#[tokio::test(start_paused = true)]
async fn a_list_is_read_in_pages_if_the_server_ignores_the_request_to_stream_it() {
    let serve = |query: &str| (200, if is_watch(query) { silent() } else { line(&empty()) });
    let mut received = notes_of(served_by(serve).with_settings(streaming()));
    let start = tokio::time::Instant::now();
    while !matches!(received.recv().await.expect("the loop never ends"), WatchNote::Synced(_)) {
        assert!(start.elapsed() < Duration::from_hours(1), "it is never in sync");
    }
}
