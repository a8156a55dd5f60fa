//! Servers that cannot be reached for a while, and what a watch makes of it.

use super::*;

/// A list of nothing at a version.
fn listed(version: &str) -> (u16, Answer) {
    (200, line(&json!({"metadata": {"resourceVersion": version}, "items": []})))
}

/// A server that answers with a code for so long after its first watch, and that has gone on to version
/// 12 by then: of the history that was watched, or of another.
fn out_for(outage: Duration, code: u16, words: Words) -> Cluster {
    let (start, asked) = (tokio::time::Instant::now(), AtomicUsize::new(0));
    served_by(move |query| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => listed("9"),
        1 => {
            let object = json!({"metadata": {"resourceVersion": "9"}});
            (200, line(&json!({"type": "BOOKMARK", "object": object})))
        }
        _ if start.elapsed() < outage => (code, line(&json!({}))),
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
async fn asked_after(outage: Duration, code: u16) -> Vec<&'static str> {
    let (say, mut heard) = mpsc::unbounded_channel();
    looping(out_for(outage, code, say), |_| {});
    let mut words = Vec::new();
    while words.last() != Some(&"watch") {
        words.push(heard.recv().await.expect("the loop never ends"));
    }
    words
}

#[tokio::test(start_paused = true)]
async fn after_a_long_outage_all_is_listed_as_the_version_may_be_of_another_history() {
    // 500 is what a server says whose etcd is not to be reached, 429 one that is there and busy.
    for (code, expected) in [
        (500, &["probe", "list", "watch"][..]),
        (503, &["probe", "list", "watch"]),
        (429, &["probe", "watch"]),
    ] {
        assert_eq!(asked_after(Duration::from_mins(1), code).await, expected, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_short_outage_the_watch_goes_on() {
    assert_eq!(asked_after(Duration::from_secs(10), 503).await, ["probe", "watch"]);
}

/// By the time that it can be listed it has written as much again.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_seen_to_have_gone_back_has_however_late_its_list_is() {
    for outage in [Duration::from_secs(10), Duration::from_mins(1)] {
        let (asked, lists) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = tokio::time::Instant::now();
        let mut heard = heard_of(served_by(move |query| match query {
            _ if asked.fetch_add(1, Ordering::Relaxed) == 0 => listed("9"),
            _ if start.elapsed() < outage => (503, line(&json!({}))),
            "limit=1" => listed("5"),
            "limit=500" if lists.fetch_add(1, Ordering::Relaxed) == 0 => (503, line(&json!({}))),
            "limit=500" => listed("12"),
            _ => (200, silent()),
        }));
        let settled = loop {
            if let WatchNote::Synced(how) = heard.recv().await.expect("the loop never ends") {
                break how;
            }
        };
        assert_eq!(settled, Settled::VersionRegressed, "after {outage:?}");
    }
}

/// With as short a time, however often it says so, it is asked without end by all that watch it.
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_a_second_each_time_is_asked_ever_less() {
    let (say, mut heard) = mpsc::unbounded_channel();
    let serve = move |request: Request<Body>| {
        let is_watch = is_watch(request.uri().query().unwrap_or_default());
        let body = line(&if is_watch { json!({}) } else { empty() });
        let mut busy = Response::builder();
        if is_watch {
            let _ = say.send(());
            busy = busy.status(429).header("Retry-After", "1");
        }
        async move { Ok::<_, Infallible>(busy.body(body).unwrap()) }
    };
    looping(cluster(tower::service_fn(serve)), |_| {});
    tokio::time::sleep(Duration::from_mins(1)).await;
    let mut watches = 0;
    while heard.try_recv().is_ok() {
        watches += 1;
    }
    assert!((5..20).contains(&watches), "asked {watches} times");
}

#[tokio::test(start_paused = true)]
async fn a_list_ends_an_outage_however_little_is_said_after_it() {
    let (say, mut heard) = mpsc::unbounded_channel();
    let asked = AtomicUsize::new(0);
    looping(
        served_by(move |query| match query {
            _ if asked.fetch_add(1, Ordering::Relaxed) == 0 => (503, line(&json!({}))),
            query if is_watch(query) => (200, silent()),
            query => {
                let _ = say.send(query.to_owned());
                listed("9")
            }
        }),
        |_| {},
    );
    tokio::time::sleep(Duration::from_secs(150)).await;
    let mut lists = Vec::new();
    while let Ok(query) = heard.try_recv() {
        lists.push(query);
    }
    assert_eq!(lists, ["limit=500", "limit=1"]);
}

/// A server that was restarted has forgotten the versions of all that watch it.
#[tokio::test(start_paused = true)]
async fn not_all_scopes_list_in_the_moment_in_which_their_versions_are_forgotten() {
    let (say, mut heard) = mpsc::unbounded_channel();
    for _ in 0..8 {
        let (say, asked) = (say.clone(), AtomicUsize::new(0));
        let start = tokio::time::Instant::now();
        let cluster = served_by(move |query| match asked.fetch_add(1, Ordering::Relaxed) {
            1 => (410, line(&json!({"kind": "Status", "code": 410, "reason": "Expired"}))),
            2 => {
                let _ = say.send(start.elapsed());
                listed("9")
            }
            _ if is_watch(query) => (200, silent()),
            _ => listed("9"),
        });
        looping(cluster, |_| {});
    }
    let mut delays = BTreeSet::new();
    for _ in 0..8 {
        delays.insert(heard.recv().await.expect("the loops never end").as_millis());
    }
    assert!(delays.len() > 1 && delays.iter().all(|delay| *delay <= 1000), "{delays:?}");
}
