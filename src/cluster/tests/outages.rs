//! Watches of servers that are unreachable for a while.

use super::*;

/// An empty list of a version.
fn listed(version: &str) -> (u16, Answer) {
    (200, line(&json!({"metadata": {"resourceVersion": version}, "items": []})))
}

/// A server that answers with a code for so long after its first watch, and is at version 12 then: of the
/// watched history, or of another.
fn unreachable_for(outage: Duration, code: u16, kinds: RequestKinds) -> Cluster {
    let (start, asked) = (tokio::time::Instant::now(), AtomicUsize::new(0));
    served_by(move |query| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => listed("9"),
        1 => {
            let object = json!({"metadata": {"resourceVersion": "9"}});
            (200, line(&json!({"type": "BOOKMARK", "object": object})))
        }
        _ if start.elapsed() < outage => (code, line(&json!({}))),
        _ if is_watch(query) => {
            let _ = kinds.send("watch");
            (200, silent())
        }
        _ => {
            let _ = kinds.send(if query == "limit=500" { "list" } else { "probe" });
            listed("12")
        }
    })
}

/// The first requests after the outage.
async fn asked_after(outage: Duration, code: u16) -> Vec<&'static str> {
    let (sender, mut received) = mpsc::unbounded_channel();
    looping(unreachable_for(outage, code, sender), |_| {});
    let mut kinds = Vec::new();
    while kinds.last() != Some(&"watch") {
        kinds.push(received.recv().await.expect("the loop never ends"));
    }
    kinds
}

#[tokio::test(start_paused = true)]
async fn after_a_long_outage_the_watch_begins_with_a_list() {
    // A server answers 500 when its etcd is unreachable, and 429 when it is busy.
    for (code, expected) in [
        (500, &["probe", "list", "watch"][..]),
        (503, &["probe", "list", "watch"]),
        (429, &["probe", "watch"]),
    ] {
        assert_eq!(asked_after(Duration::from_mins(1), code).await, expected, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_short_outage_the_watch_continues() {
    assert_eq!(asked_after(Duration::from_secs(10), 503).await, ["probe", "watch"]);
}

/// When it is listed, its versions are higher than before.
#[tokio::test(start_paused = true)]
async fn regressed_versions_are_reported_even_if_the_list_follows_later() {
    for outage in [Duration::from_secs(10), Duration::from_mins(1)] {
        let (asked, lists) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = tokio::time::Instant::now();
        let mut received = notes_of(served_by(move |query| match query {
            _ if asked.fetch_add(1, Ordering::Relaxed) == 0 => listed("9"),
            _ if start.elapsed() < outage => (503, line(&json!({}))),
            "limit=1" => listed("5"),
            "limit=500" if lists.fetch_add(1, Ordering::Relaxed) == 0 => (503, line(&json!({}))),
            "limit=500" => listed("12"),
            _ => (200, silent()),
        }));
        let settled = loop {
            if let WatchNote::Synced(how) = received.recv().await.expect("the loop never ends") {
                break how;
            }
        };
        assert_eq!(settled, Settled::VersionRegressed, "after {outage:?}");
    }
}

/// Otherwise all watches would retry every second for as long as it is busy.
#[tokio::test(start_paused = true)]
async fn the_backoff_grows_although_the_server_always_asks_for_a_second() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let serve = move |request: Request<Body>| {
        let is_watch = is_watch(request.uri().query().unwrap_or_default());
        let body = line(&if is_watch { json!({}) } else { empty() });
        let mut busy = Response::builder();
        if is_watch {
            let _ = sender.send(());
            busy = busy.status(429).header("Retry-After", "1");
        }
        async move { Ok::<_, Infallible>(busy.body(body).unwrap()) }
    };
    looping(cluster(tower::service_fn(serve)), |_| {});
    tokio::time::sleep(Duration::from_mins(1)).await;
    let mut watches = 0;
    while received.try_recv().is_ok() {
        watches += 1;
    }
    assert!((5..20).contains(&watches), "asked {watches} times");
}

#[tokio::test(start_paused = true)]
async fn a_list_ends_an_outage_even_if_the_next_watch_is_silent() {
    let (sender, mut received) = mpsc::unbounded_channel();
    let asked = AtomicUsize::new(0);
    looping(
        served_by(move |query| match query {
            _ if asked.fetch_add(1, Ordering::Relaxed) == 0 => (503, line(&json!({}))),
            query if is_watch(query) => (200, silent()),
            query => {
                let _ = sender.send(query.to_owned());
                listed("9")
            }
        }),
        |_| {},
    );
    tokio::time::sleep(Duration::from_secs(80)).await;
    let mut lists = Vec::new();
    while let Ok(query) = received.try_recv() {
        lists.push(query);
    }
    assert_eq!(lists, ["limit=500", "limit=1"]);
}

/// After a restart the versions of all watches are too old for a server.
#[tokio::test(start_paused = true)]
async fn lists_are_spread_when_the_versions_of_all_scopes_have_expired() {
    let (sender, mut received) = mpsc::unbounded_channel();
    for _ in 0..8 {
        let (sender, asked) = (sender.clone(), AtomicUsize::new(0));
        let start = tokio::time::Instant::now();
        let cluster = served_by(move |query| match asked.fetch_add(1, Ordering::Relaxed) {
            1 => (410, line(&json!({"kind": "Status", "code": 410, "reason": "Expired"}))),
            2 => {
                let _ = sender.send(start.elapsed());
                listed("9")
            }
            _ if is_watch(query) => (200, silent()),
            _ => listed("9"),
        });
        looping(cluster, |_| {});
    }
    let mut delays = BTreeSet::new();
    for _ in 0..8 {
        delays.insert(received.recv().await.expect("the loops never end").as_millis());
    }
    assert!(delays.len() > 1 && delays.iter().all(|delay| *delay <= 1000), "{delays:?}");
}
