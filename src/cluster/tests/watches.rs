//! Watches that end, are refused, or are of a version that is forgotten.

use super::*;

/// A server whose lists are empty, and which ends every watch at once.
fn ending(words: Words) -> Cluster {
    served_by(move |query| {
        let _ = words.send(if is_watch(query) { "watch" } else { "list" });
        let bookmark = json!({"type": "BOOKMARK", "object": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"},
            },
        }});
        (200, line(&if is_watch(query) { bookmark } else { empty() }))
    })
}

#[tokio::test]
async fn that_a_watch_is_open_is_told_unless_the_one_before_had_lasted_its_time() {
    let (short, long) = (Duration::ZERO, Timeouts::default().watch);
    for (streaming_lists, watch, expected) in [
        (false, short, &["list", "opened", "watch", "watch", "watch"][..]),
        (false, long, &["list", "opened", "watch", "watch", "opened"]),
        (true, short, &["watch", "opened", "watch", "watch"]),
        (true, long, &["watch", "opened", "watch", "opened"]),
    ] {
        let timeouts = Timeouts { watch, ..Timeouts::default() };
        let settings = ClusterSettings { timeouts, streaming_lists, ..<_>::default() };
        assert_eq!(said(settings, expected.len()).await, expected, "{settings:?}");
    }
}

/// The first words between a watch loop and a server that ends every watch at once.
async fn said(settings: ClusterSettings, count: usize) -> Vec<&'static str> {
    let (say, mut heard) = mpsc::unbounded_channel();
    let cluster = ending(say.clone()).with_settings(settings);
    looping(cluster, move |note| {
        if matches!(note, WatchNote::Opened) {
            let _ = say.send("opened");
        }
    });
    let mut words = Vec::new();
    while words.len() < count {
        words.push(heard.recv().await.expect("the loop never ends"));
    }
    words
}

#[tokio::test]
async fn what_may_be_listed_and_not_watched_is_not_called_in_sync() {
    let cluster =
        served_by(
            move |query| {
                if is_watch(query) { (403, line(&json!({}))) } else { (200, line(&empty())) }
            },
        );
    let mut heard = heard_of(cluster);
    loop {
        match heard.recv().await.expect("the loop never ends") {
            WatchNote::Failed { .. } => break,
            note => assert!(!matches!(note, WatchNote::Synced(_)), "{note:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_day_is_asked_again_sooner() {
    let serve = |_: Request<Body>| async {
        let asking = Response::builder().status(503).header("Retry-After", "86400");
        Ok(asking.body(answer(Vec::new())).unwrap())
    };
    let mut heard = heard_of(cluster(tower::service_fn(serve)));
    match heard.recv().await {
        Some(WatchNote::Failed { retry_in, .. }) => {
            // With up to a tenth more, so that not all come back together.
            let obeyed = Duration::from_mins(10)..=Duration::from_mins(11);
            assert!(obeyed.contains(&retry_in), "it may be back before {retry_in:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// A server with nothing in it that ends the first watch, refuses the second, and has nothing to
/// say in the third.
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
async fn a_watch_that_failed_is_known_to_work_again_when_it_opens() {
    let mut heard = heard_of(refusing_once());
    loop {
        if let WatchNote::Failed { error, .. } = heard.recv().await.expect("the loop never ends") {
            break assert_eq!(error.code(), Some(403));
        }
    }
    assert!(matches!(heard.recv().await, Some(WatchNote::Opened)));
    let note = heard.recv().await;
    assert!(matches!(note, Some(WatchNote::Alive { .. })), "nothing else may ever come: {note:?}");
}

/// A server that has forgotten the version of its list when it is first watched from there; the
/// second watch says nothing.
fn forgetful(words: Words) -> Cluster {
    let watches = Arc::new(AtomicUsize::new(0));
    served_by(move |query| {
        let _ = words.send(if is_watch(query) { "watch" } else { "list" });
        let number = is_watch(query).then(|| watches.fetch_add(1, Ordering::Relaxed) + 1);
        match number {
            None => (200, line(&empty())),
            Some(1) => (410, line(&json!({"kind": "Status", "code": 410, "reason": "Expired"}))),
            Some(_) => (200, silent()),
        }
    })
}

#[tokio::test]
async fn a_watch_that_is_refused_as_too_old_is_begun_with_a_list() {
    let (say, mut heard) = mpsc::unbounded_channel();
    looping(forgetful(say), |_| {});
    for expected in ["list", "watch", "list", "watch"] {
        assert_eq!(heard.recv().await, Some(expected));
    }
}

/// Only then it is told that a list was taken in.
#[tokio::test]
async fn that_versions_went_back_is_told_although_a_second_list_followed() {
    let store = Store::new(config_maps(), BTreeSet::new());
    let scope = store.add_scope(None);
    store.bookmark(scope, &ResourceVersion::Number(5));
    let ((words, _), (say, mut heard)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let note = move |note| drop(say.send(note));
    tokio::spawn(watch(forgetful(words), all_config_maps(), store, scope, note));
    let settled = loop {
        if let WatchNote::Synced(settled) = heard.recv().await.expect("the loop never ends") {
            break settled;
        }
    };
    assert_eq!(settled, Settled::VersionRegressed);
}

/// A server that ends every watch before it says anything, as something between that cuts what is
/// idle does. It lists version 9 first, and then version 5.
fn restored_behind_a_proxy(words: Words) -> Cluster {
    let lists = Arc::new(AtomicUsize::new(0));
    served_by(move |query| {
        let _ = words.send(match query {
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
async fn a_backup_is_noticed_where_no_watch_lasts_until_its_silence_would_be() {
    let ((words, mut heard), (say, mut notes)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    looping(restored_behind_a_proxy(words), move |note| drop(say.send(note)));
    // From then on nothing has gone back.
    for expected in ["list", "watch", "probe", "list", "watch", "probe", "watch", "probe"] {
        assert_eq!(heard.recv().await, Some(expected));
    }
    let mut settled = Vec::new();
    while let Ok(note) = notes.try_recv() {
        if let WatchNote::Synced(how) = note {
            settled.push(how);
        }
    }
    assert_eq!(settled, [Settled::Continued, Settled::VersionRegressed]);
}

/// A server that has lost what it wrote last, and says nothing of it: it lists version 9 first, and is
/// at version 5 when it can be reached again.
fn forgetful_after_a_crash(words: Words) -> Cluster {
    let (lists, watches) = (AtomicUsize::new(0), AtomicUsize::new(0));
    served_by(move |query| {
        let _ = words.send(match query {
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
async fn a_server_that_comes_back_is_asked_whether_it_has_gone_back() {
    let (say, mut heard) = mpsc::unbounded_channel();
    looping(forgetful_after_a_crash(say), |_| {});
    for expected in ["list", "watch", "watch", "probe", "list", "watch"] {
        assert_eq!(heard.recv().await, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_watch_after_a_word_is_not_asked_in_a_tight_loop() {
    let (say, mut heard) = mpsc::unbounded_channel();
    looping(ending(say), |_| {});
    let start = tokio::time::Instant::now();
    for _ in 0..10 {
        heard.recv().await.expect("the loop never ends");
    }
    assert!(start.elapsed() > Duration::from_secs(10), "{:?}", start.elapsed());
}

/// It may be another one when it is served again.
#[tokio::test(start_paused = true)]
async fn a_type_that_is_served_again_is_begun_with_a_list() {
    let (say, mut heard) = mpsc::unbounded_channel();
    let cluster = served_by(move |query| {
        let _ = say.send(if is_watch(query) { "watch" } else { "list" });
        if is_watch(query) { (404, line(&json!({}))) } else { (200, line(&empty())) }
    });
    looping(cluster, |_| {});
    for expected in ["list", "watch", "list", "watch"] {
        assert_eq!(heard.recv().await, Some(expected));
    }
}

/// What a server answers to the watch that cannot get on.
type Obstacle = fn() -> (u16, Answer);

/// A server on which no watch gets past version 5, at which it was listed first; by now it holds
/// another object.
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

/// Its event is one that cannot be converted, or read, or its version one that is refused.
#[tokio::test(start_paused = true)]
async fn a_watch_that_does_not_get_past_an_event_is_begun_with_a_list() {
    let obstacles: [Obstacle; 5] = [
        || (200, answer(Vec::new())),
        || (200, line(&json!({"type": "ERROR", "object": {"kind": "Status", "code": 500}}))),
        || (200, answer(b"{\"type\": \"MODI\n".to_vec())),
        || (400, line(&json!({}))),
        || (500, line(&json!({}))),
    ];
    for (which, obstacle) in obstacles.into_iter().enumerate() {
        let (say, mut heard) = mpsc::unbounded_channel();
        let store = looping(stuck(obstacle), move |note| drop(say.send(note)));
        let mut was_lost = false;
        let start = tokio::time::Instant::now();
        while store.reader().list().is_empty() {
            let note = heard.recv().await.expect("the loop never ends");
            was_lost |= matches!(note, WatchNote::Lost);
            assert!(start.elapsed() < Duration::from_hours(1), "{which} is in its way");
        }
        assert!(was_lost, "it is told before");
    }
}

/// A server that refuses the second watch, and has forgotten the version by the third.
#[tokio::test(start_paused = true)]
async fn what_is_too_old_after_a_failure_is_not_called_alive() {
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
    let mut heard = heard_of(cluster);
    let mut told = Vec::new();
    while told.last() != Some(&"synced again") {
        told.push(match heard.recv().await.expect("the loop never ends") {
            WatchNote::Failed { .. } => "failed",
            WatchNote::Lost => "lost",
            WatchNote::Alive { .. } => "alive",
            WatchNote::Synced(_) if told.contains(&"synced") => "synced again",
            WatchNote::Synced(_) => "synced",
            _ => continue,
        });
    }
    assert_eq!(told, ["synced", "alive", "failed", "lost", "synced again"]);
}
