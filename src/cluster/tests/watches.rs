//! Watches that end, are refused, or whose version has expired.

use super::*;

/// A server whose lists are empty, and which ends every watch after one bookmark.
fn ending(kinds: RequestKinds) -> Cluster {
    served_by(move |query| {
        let _ = kinds.send(if is_watch(query) { "watch" } else { "list" });
        let bookmark = json!({"type": "BOOKMARK", "object": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }});
        (200, line(&if is_watch(query) { bookmark } else { empty() }))
    })
}

#[tokio::test]
async fn an_opened_watch_is_noted_unless_the_previous_one_lasted_until_its_timeout() {
    let (short, long) = (Duration::ZERO, Timeouts::default().watch);
    for (streaming_lists, watch, expected) in [
        (false, short, &["list", "opened", "watch", "watch", "watch"][..]),
        (false, long, &["list", "opened", "watch", "watch", "opened"]),
        (true, short, &["watch", "opened", "watch", "watch"]),
        (true, long, &["watch", "opened", "watch", "opened"]),
    ] {
        let timeouts = Timeouts { watch, ..Timeouts::default() };
        let settings = ClusterSettings { timeouts, streaming_lists, ..<_>::default() };
        assert_eq!(requests_and_notes(settings, expected.len()).await, expected, "{settings:?}");
    }
}

/// The first requests to a server that ends every watch at once, and the notes that a watch was opened.
async fn requests_and_notes(settings: ClusterSettings, count: usize) -> Vec<&'static str> {
    let (sender, mut received) = mpsc::unbounded_channel();
    let cluster = ending(sender.clone()).with_settings(settings);
    looping(cluster, move |note| {
        if matches!(note, WatchNote::Opened) {
            let _ = sender.send("opened");
        }
    });
    let mut kinds = Vec::new();
    while kinds.len() < count {
        kinds.push(received.recv().await.expect("the loop never ends"));
    }
    kinds
}

#[tokio::test]
async fn a_type_that_may_be_listed_and_not_watched_is_not_in_sync() {
    let cluster =
        served_by(
            move |query| {
                if is_watch(query) { (403, line(&json!({}))) } else { (200, line(&empty())) }
            },
        );
    let mut received = notes_of(cluster);
    loop {
        match received.recv().await.expect("the loop never ends") {
            WatchNote::Failed { .. } => break,
            note => assert!(!matches!(note, WatchNote::Synced(_)), "{note:?}"),
        }
    }
}

#[tokio::test]
async fn a_requested_delay_of_a_day_is_limited() {
    let serve = |_: Request<Body>| async {
        let asking = Response::builder().status(503).header("Retry-After", "86400");
        Ok(asking.body(answer(Vec::new())).unwrap())
    };
    let mut received = notes_of(cluster(tower::service_fn(serve)));
    match received.recv().await {
        Some(WatchNote::Failed { retry_in, .. }) => {
            // With up to a tenth more, so that the retries are spread.
            let obeyed = Duration::from_mins(10)..=Duration::from_mins(11);
            assert!(obeyed.contains(&retry_in), "{retry_in:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// A server without objects that ends the first watch, refuses the second, and is silent in the third.
fn refusing_once() -> Cluster {
    let watches = Arc::new(AtomicUsize::new(0));
    served_by(move |query| {
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        match number {
            None => (200, line(&empty())),
            Some(1) => (200, answer(Vec::new())),
            Some(2) => (403, line(&json!({}))),
            Some(_) => (200, silent()),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_failed_is_noted_as_alive_when_it_opens_again() {
    let mut received = notes_of(refusing_once());
    loop {
        if let WatchNote::Failed { error, .. } = received.recv().await.expect("the loop never ends")
        {
            break assert_eq!(error.code(), Some(403));
        }
    }
    assert!(matches!(received.recv().await, Some(WatchNote::Opened)));
    let note = received.recv().await;
    assert!(matches!(note, Some(WatchNote::Alive { .. })), "{note:?}");
}

/// A server that refuses the first watch because the version of its list has expired; the second watch is
/// silent.
fn expired_once(kinds: RequestKinds) -> Cluster {
    let watches = Arc::new(AtomicUsize::new(0));
    served_by(move |query| {
        let _ = kinds.send(if is_watch(query) { "watch" } else { "list" });
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        match number {
            None => (200, line(&empty())),
            Some(1) => (410, line(&json!({"kind": "Status", "code": 410, "reason": "Expired"}))),
            Some(_) => (200, silent()),
        }
    })
}

#[tokio::test]
async fn a_watch_whose_version_has_expired_begins_with_a_list() {
    let (sender, mut received) = mpsc::unbounded_channel();
    looping(expired_once(sender), |_| {});
    for expected in ["list", "watch", "list", "watch"] {
        assert_eq!(received.recv().await, Some(expected));
    }
}

/// Only the second list is followed by a watch and so noted.
#[tokio::test]
async fn regressed_versions_are_noted_although_a_second_list_followed() {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    store.bookmark(scope, &ResourceVersion::Number(5));
    let ((kinds, _), (sender, mut received)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let note = move |note| drop(sender.send(note));
    tokio::spawn(watch(expired_once(kinds), all_config_maps(), store, scope, note));
    let settled = loop {
        if let WatchNote::Synced(settled) = received.recv().await.expect("the loop never ends") {
            break settled;
        }
    };
    assert_eq!(settled, Settled::VersionRegressed);
}

/// A server behind a proxy that ends every watch before its first event. It lists version 9 first, and
/// then version 5.
fn restored_behind_a_proxy(kinds: RequestKinds) -> Cluster {
    let lists = Arc::new(AtomicUsize::new(0));
    served_by(move |query| {
        let _ = kinds.send(match query {
            "limit=500" => "list",
            "limit=1" => "probe",
            _ => "watch",
        });
        if is_watch(query) {
            return (200, answer(Vec::new()));
        }
        let is_first = lists.fetch_add(1, Ordering::Relaxed) == 0;
        let version = if is_first { "9" } else { "5" };
        (200, line(&json!({"metadata": {"resourceVersion": version}, "items": []})))
    })
}

#[tokio::test(start_paused = true)]
async fn regressed_versions_are_noticed_although_a_proxy_ends_all_silent_watches() {
    let ((kinds, mut received), (sender, mut notes)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    looping(restored_behind_a_proxy(kinds), move |note| drop(sender.send(note)));
    // After the second list the versions do not regress again.
    for expected in ["list", "watch", "probe", "list", "watch", "probe", "watch", "probe"] {
        assert_eq!(received.recv().await, Some(expected));
    }
    let mut settled = Vec::new();
    while let Ok(note) = notes.try_recv() {
        if let WatchNote::Synced(how) = note {
            settled.push(how);
        }
    }
    assert_eq!(settled, [Settled::Continued, Settled::VersionRegressed]);
}

/// A server that has lost its last writes in a crash: it lists version 9 first, and is at version 5 when
/// it is reachable again.
fn regressed_after_a_crash(kinds: RequestKinds) -> Cluster {
    let (lists, watches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    served_by(move |query| {
        let _ = kinds.send(match query {
            "limit=500" => "list",
            "limit=1" => "probe",
            _ => "watch",
        });
        if !is_watch(query) {
            let is_first = lists.fetch_add(1, Ordering::Relaxed) == 0;
            let version = if is_first { "9" } else { "5" };
            return (200, line(&json!({"metadata": {"resourceVersion": version}, "items": []})));
        }
        match watches.fetch_add(1, Ordering::Relaxed) {
            0 => {
                let metadata = json!({"resourceVersion": "9"});
                let object = json!({"metadata": metadata});
                (200, line(&json!({"type": "BOOKMARK", "object": object})))
            }
            1 => (503, line(&json!({}))),
            _ => (200, silent()),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn after_an_outage_a_list_checks_whether_versions_regressed() {
    let (sender, mut received) = mpsc::unbounded_channel();
    looping(regressed_after_a_crash(sender), |_| {});
    for expected in ["list", "watch", "watch", "probe", "list", "watch"] {
        assert_eq!(received.recv().await, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_watch_after_one_event_is_not_asked_in_a_tight_loop() {
    let (sender, mut received) = mpsc::unbounded_channel();
    looping(ending(sender), |_| {});
    let start = tokio::time::Instant::now();
    for _ in 0..10 {
        received.recv().await.expect("the loop never ends");
    }
    assert!(start.elapsed() > Duration::from_secs(10), "{:?}", start.elapsed());
}

/// It may be another type when it is served again.
#[tokio::test(start_paused = true)]
async fn the_watch_of_a_type_that_is_served_again_begins_with_a_list() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let cluster = served_by(move |query| {
        let _ = sender.send(if is_watch(query) { "watch" } else { "list" });
        if is_watch(query) { (404, line(&json!({}))) } else { (200, line(&empty())) }
    });
    looping(cluster, |_| {});
    for expected in ["list", "watch", "list", "watch"] {
        assert_eq!(received.recv().await, Some(expected));
    }
}

/// The answer to a watch from the version that it cannot pass.
type Obstacle = fn() -> (u16, Answer);

/// A server on which no watch makes progress from version 5, which is that of the first list. Later lists
/// contain an object.
fn stuck(obstacle: Obstacle) -> Cluster {
    let lists = AtomicUsize::new(0);
    served_by(move |query| match query {
        query if query.contains("resourceVersion=5&") || query.ends_with("resourceVersion=5") => {
            obstacle()
        }
        query if is_watch(query) => (200, silent()),
        "limit=500" if lists.fetch_add(1, Ordering::Relaxed) == 0 => {
            (200, line(&json!({"metadata": {"resourceVersion": "5"}, "items": []})))
        }
        _ => (200, line(&json!({"metadata": {"resourceVersion": "900"}, "items": [item("a")]}))),
    })
}

/// The event cannot be converted or decoded, or the version is refused.
#[tokio::test(start_paused = true)]
async fn a_watch_without_progress_begins_with_a_list() {
    let obstacles: [Obstacle; 5] = [
        || (200, answer(Vec::new())),
        || (200, line(&json!({"type": "ERROR", "object": {"kind": "Status", "code": 500}}))),
        || (200, answer(b"{\"type\": \"MODI\n".to_vec())),
        || (400, line(&json!({}))),
        || (500, line(&json!({}))),
    ];
    for (which, obstacle) in obstacles.into_iter().enumerate() {
        let (sender, mut received) = mpsc::unbounded_channel();
        let store = looping(stuck(obstacle), move |note| drop(sender.send(note)));
        let mut was_lost = false;
        let start = tokio::time::Instant::now();
        while store.reader().list().is_empty() {
            let note = received.recv().await.expect("the loop never ends");
            was_lost |= matches!(note, WatchNote::Lost);
            assert!(start.elapsed() < Duration::from_hours(1), "obstacle {which}");
        }
        assert!(was_lost, "`Lost` was not noted before the list");
    }
}

/// The server refuses the second watch, and the version has expired by the third.
#[tokio::test(start_paused = true)]
async fn a_watch_whose_version_expired_after_a_failure_is_not_noted_as_alive() {
    let watches = Arc::new(AtomicUsize::new(0));
    let cluster = served_by(move |query| {
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        let expired = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410}});
        match number {
            None => (200, line(&empty())),
            Some(1) => (200, answer(Vec::new())),
            Some(2) => (403, line(&json!({}))),
            Some(3) => (200, line(&expired)),
            Some(_) => (200, silent()),
        }
    });
    let mut received = notes_of(cluster);
    let mut notes = Vec::new();
    while notes.last() != Some(&"synced again") {
        notes.push(match received.recv().await.expect("the loop never ends") {
            WatchNote::Failed { .. } => "failed",
            WatchNote::Lost => "lost",
            WatchNote::Alive { .. } => "alive",
            WatchNote::Synced(_) if notes.contains(&"synced") => "synced again",
            WatchNote::Synced(_) => "synced",
            _ => continue,
        });
    }
    assert_eq!(notes, ["synced", "alive", "failed", "lost", "synced again"]);
}
