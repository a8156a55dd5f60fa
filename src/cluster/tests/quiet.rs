//! Types in which nothing happens.

use super::*;

/// A server says nothing of a type in which nothing happens: its versions stay as they are.
#[tokio::test(start_paused = true)]
async fn a_type_in_which_nothing_happens_is_no_trouble() {
    let ((words, mut heard), (say, mut notes)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let cluster = served_by(move |query| {
        let _ = words.send(match query {
            "limit=500" => "list",
            "limit=1" => "probe",
            _ => "watch",
        });
        if is_watch(query) { (200, silent()) } else { (200, line(&empty())) }
    });
    looping(cluster, move |note| drop(say.send(note)));
    tokio::time::sleep(Duration::from_hours(1)).await;
    let mut counts = std::collections::BTreeMap::new();
    while let Ok(word) = heard.try_recv() {
        *counts.entry(word).or_insert(0) += 1;
    }
    assert!(counts["list"] <= 7 && counts["watch"] <= 37 && counts["probe"] <= 37, "{counts:?}");
    while let Ok(note) = notes.try_recv() {
        assert!(!matches!(note, WatchNote::Failed { .. }), "{note:?}");
    }
}

/// What ends its watches is a proxy that is restarted once.
#[tokio::test(start_paused = true)]
async fn one_watch_that_ends_at_once_among_silent_ones_is_no_reason_to_list() {
    let (say, mut heard) = mpsc::unbounded_channel();
    let watches = AtomicUsize::new(0);
    let cluster = served_by(move |query| {
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        let _ = say.send(if query == "limit=500" { "list" } else { "another" });
        match number {
            None => (200, line(&empty())),
            Some(3) => (200, answer(Vec::new())),
            Some(_) => (200, silent()),
        }
    });
    looping(cluster, |_| {});
    tokio::time::sleep(Duration::from_mins(5)).await;
    let mut words = Vec::new();
    while let Ok(word) = heard.try_recv() {
        words.push(word);
    }
    assert_eq!(words.iter().filter(|word| **word == "list").count(), 1, "{words:?}");
    assert!(words.len() > 6, "the fourth watch is open: {words:?}");
}

/// The version of the list is compacted away while nothing of the type changes; a bookmark says from
/// where to go on.
#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_from_its_last_bookmark_and_asks_for_more() {
    let (say, mut heard) = mpsc::unbounded_channel();
    let cluster = served_by(move |query| {
        if !is_watch(query) {
            let version = if query == "limit=500" { "5" } else { "9" };
            let list = json!({"metadata": {"resourceVersion": version}, "items": []});
            return (200, line(&list));
        }
        let _ = say.send(query.to_owned());
        let object = json!({"metadata": {"resourceVersion": "9"}});
        (200, line(&json!({"type": "BOOKMARK", "object": object})))
    });
    looping(cluster, |_| {});
    for version in ["resourceVersion=5", "resourceVersion=9", "resourceVersion=9"] {
        let query = heard.recv().await.expect("the loop never ends");
        for parameter in [version, "allowWatchBookmarks=true"] {
            assert!(query.split('&').any(|given| given == parameter), "{parameter}: {query}");
        }
    }
}
