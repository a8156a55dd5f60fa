//! Servers that cannot be reached for a while, and what a watch makes of it.

use super::*;

/// A server that cannot be reached for so long after its first watch, and that has gone on to version
/// 12 by then: of the history that was watched, or of another.
fn out_for(outage: Duration, words: Words) -> Cluster {
    let (start, asked) = (tokio::time::Instant::now(), AtomicUsize::new(0));
    let listed = |version: &str| {
        (200, line(&json!({"metadata": {"resourceVersion": version}, "items": []})))
    };
    served_by(move |query| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => listed("9"),
        1 => {
            let object = json!({"metadata": {"resourceVersion": "9"}});
            (200, line(&json!({"type": "BOOKMARK", "object": object})))
        }
        _ if start.elapsed() < outage => (503, line(&json!({}))),
        _ if is_watch(query) => {
            let _ = words.send("watch");
            (200, silent())
        }
        _ => {
            let _ = words.send(if query == "limit=500" { "list" } else { "probe" });
            listed("12")
        }
    })
}

/// What is asked for first when it can be reached again.
async fn asked_after(outage: Duration) -> Vec<&'static str> {
    let (say, mut heard) = mpsc::unbounded_channel();
    looping(out_for(outage, say), |_| {});
    let mut words = Vec::new();
    while words.last() != Some(&"watch") {
        words.push(heard.recv().await.expect("the loop never ends"));
    }
    words
}

#[tokio::test(start_paused = true)]
async fn after_a_long_outage_all_is_listed_as_the_version_may_be_of_another_history() {
    assert_eq!(asked_after(Duration::from_mins(1)).await, ["probe", "list", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_short_outage_the_watch_goes_on() {
    assert_eq!(asked_after(Duration::from_secs(10)).await, ["probe", "watch"]);
}

/// By the time that it can be listed it has written as much again.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_seen_to_have_gone_back_has_however_late_its_list_is() {
    let (lists, watches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let at = |version: &str| {
        (200, line(&json!({"metadata": {"resourceVersion": version}, "items": []})))
    };
    let mut heard = heard_of(served_by(move |query| match query {
        "limit=1" => at("5"),
        "limit=500" => match lists.fetch_add(1, Ordering::Relaxed) {
            0 => at("9"),
            1 => (503, line(&json!({}))),
            _ => at("12"),
        },
        _ if watches.fetch_add(1, Ordering::Relaxed) == 0 => (503, line(&json!({}))),
        _ => (200, silent()),
    }));
    loop {
        if let Some(WatchNote::Synced(how)) = heard.recv().await {
            assert_eq!(how, Settled::WentBack);
            break;
        }
    }
}
