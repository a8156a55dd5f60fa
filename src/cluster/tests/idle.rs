//! Types whose objects do not change.

use super::*;

/// A server sends no events and no bookmarks for such a type.
#[tokio::test(start_paused = true)]
async fn the_watch_of_an_idle_type_does_not_fail() {
    let ((kinds, mut received), (sender, mut notes)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let cluster = served_by(move |query| {
        let _ = kinds.send(match query {
            "limit=500" => "list",
            "limit=1" => "probe",
            _ => "watch",
        });
        if is_watch(query) { (200, silent()) } else { (200, line(&empty())) }
    });
    looping(cluster, move |note| drop(sender.send(note)));
    tokio::time::sleep(Duration::from_hours(1)).await;
    let mut counts = std::collections::BTreeMap::new();
    while let Ok(word) = received.try_recv() {
        *counts.entry(word).or_insert(0) += 1;
    }
    assert!(counts["list"] <= 7 && counts["watch"] <= 81 && counts["probe"] <= 81, "{counts:?}");
    while let Ok(note) = notes.try_recv() {
        assert!(!matches!(note, WatchNote::Failed { .. }), "{note:?}");
    }
}

/// As with a proxy that is restarted once.
#[tokio::test(start_paused = true)]
async fn one_short_stream_among_silent_ones_does_not_cause_a_list() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let watches = AtomicUsize::new(0);
    let cluster = served_by(move |query| {
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        let _ = sender.send(if query == "limit=500" { "list" } else { "another" });
        match number {
            None => (200, line(&empty())),
            Some(3) => (200, answer(Vec::new())),
            Some(_) => (200, silent()),
        }
    });
    looping(cluster, |_| {});
    tokio::time::sleep(Duration::from_mins(5)).await;
    let mut kinds = Vec::new();
    while let Ok(word) = received.try_recv() {
        kinds.push(word);
    }
    assert_eq!(kinds.iter().filter(|word| **word == "list").count(), 1, "{kinds:?}");
    assert!(kinds.len() > 6, "the fourth watch is open: {kinds:?}");
}

/// The version of the list is compacted while nothing of the type changes; a bookmark has a newer one.
#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_from_its_last_bookmark_and_asks_for_more() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let cluster = served_by(move |query| {
        if !is_watch(query) {
            let version = if query == "limit=500" { "5" } else { "9" };
            let list = json!({"metadata": {"resourceVersion": version}, "items": []});
            return (200, line(&list));
        }
        let _ = sender.send(query.to_owned());
        let object = json!({"metadata": {"resourceVersion": "9"}});
        (200, line(&json!({"type": "BOOKMARK", "object": object})))
    });
    looping(cluster, |_| {});
    for version in ["resourceVersion=5", "resourceVersion=9", "resourceVersion=9"] {
        let query = received.recv().await.expect("the loop never ends");
        for parameter in [version, "allowWatchBookmarks=true"] {
            assert!(query.split('&').any(|given| given == parameter), "{parameter}: {query}");
        }
    }
}
