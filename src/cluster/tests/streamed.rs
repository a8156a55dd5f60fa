//! Lists that are to be streamed, by servers that do not.

use super::*;

/// A server that takes `sendInitialEvents` for a watch like any other, of a type in which nothing
/// happens.
#[tokio::test(start_paused = true)]
async fn what_a_server_does_not_stream_and_says_nothing_of_is_read_in_pages() {
    let serve = |query: &str| (200, if is_watch(query) { silent() } else { line(&empty()) });
    let mut heard = heard_of(served_by(serve).with_settings(streaming()));
    let start = tokio::time::Instant::now();
    while !matches!(heard.recv().await.expect("the loop never ends"), WatchNote::Synced(_)) {
        assert!(start.elapsed() < Duration::from_hours(1), "it is in sync at some time");
    }
}
