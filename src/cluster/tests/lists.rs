//! Lists that are read in pages, whole, or streamed.

use super::*;

/// A server that cannot stream lists, with one object on each of two pages; if it is slow, the token for
/// the second has expired.
fn paging(is_slow: bool, asked: mpsc::UnboundedSender<String>) -> Cluster {
    served_by(move |query| {
        let _ = asked.send(query.to_owned());
        let (code, answer) = match query {
            "limit=500" | "limit=5000" => (200, page(&["a"], "more")),
            "limit=500&continue=more" | "limit=5000&continue=more" if is_slow => {
                (410, json!({"kind": "Status", "code": 410, "reason": "Expired"}))
            }
            "limit=500&continue=more" => (200, page(&["b"], "")),
            "" => (200, page(&["a", "b"], "")),
            _ => (400, json!({})),
        };
        (code, line(&answer))
    })
}

fn page(names: &[&str], next: &str) -> Value {
    let item = |name: &&str| json!({"metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}});
    let items: Vec<_> = names.iter().map(item).collect();
    json!({"metadata": {"resourceVersion": "7", "continue": next}, "items": items})
}

#[tokio::test]
async fn a_list_is_read_in_larger_pages_and_then_whole_when_the_token_of_the_next_has_expired() {
    let small = ["limit=500", "limit=500&continue=more"];
    assert_eq!(lists_asked_of_two(ClusterSettings::default(), false).await, small);
    let all = [&small[..], &["limit=5000", "limit=5000&continue=more", ""]].concat();
    assert_eq!(lists_asked_of_two(ClusterSettings::default(), true).await, all);
}

#[tokio::test]
async fn a_list_is_read_in_pages_from_a_server_that_cannot_stream_it() {
    let asked = lists_asked_of_two(streaming(), false).await;
    assert!(asked[0].contains("sendInitialEvents=true"), "{asked:?}");
    assert_eq!(asked[1..], ["limit=500", "limit=500&continue=more"]);
}

/// The queries until both objects are listed and the watch begins.
async fn lists_asked_of_two(settings: ClusterSettings, is_slow: bool) -> Vec<String> {
    let (sender, mut asked) = mpsc::unbounded_channel();
    let store = looping(paging(is_slow, sender).with_settings(settings), |_| {});
    let mut queries = Vec::new();
    loop {
        let query = asked.recv().await.expect("the loop never ends");
        if query.ends_with("resourceVersion=7") {
            break;
        }
        queries.push(query);
    }
    let objects = store.reader().list();
    let names: Vec<&str> = objects.iter().map(Object::name).collect();
    assert_eq!(names, ["a", "b"]);
    queries
}

/// A proxy may end a long answer early.
#[tokio::test]
async fn a_streamed_list_that_ends_before_it_is_complete_is_read_in_pages() {
    let (sender, mut asked) = mpsc::unbounded_channel();
    let cluster = served_by(move |query| {
        let is_streamed = query.contains("sendInitialEvents");
        let _ = sender.send(query.to_owned());
        match query {
            "limit=500" => (200, line(&page(&["a", "b"], ""))),
            _ if is_streamed => (200, line(&json!({"type": "ADDED", "object": item("a")}))),
            _ => (200, silent()),
        }
    });
    let store = looping(cluster.with_settings(streaming()), |_| {});
    assert!(asked.recv().await.unwrap().contains("sendInitialEvents"));
    assert_eq!(asked.recv().await.unwrap(), "limit=500");
    assert!(asked.recv().await.unwrap().ends_with("resourceVersion=7"));
    assert_eq!(store.reader().len(), 2);
}

#[tokio::test]
async fn an_object_that_is_deleted_while_a_list_is_streamed_is_not_in_it() {
    let annotations = json!({"k8s.io/initial-events-end": "true"});
    let end = json!({"metadata": {"resourceVersion": "9", "annotations": annotations}});
    let frames = [
        json!({"type": "ADDED", "object": item("a")}),
        json!({"type": "ADDED", "object": item("b")}),
        json!({"type": "DELETED", "object": item("a")}),
        json!({"type": "BOOKMARK", "object": end}),
    ];
    let lines = frames.map(|frame| format!("{frame}\n")).concat().into_bytes();
    let cluster = served_by(move |query| {
        let is_list = query.contains("sendInitialEvents");
        (200, if is_list { answer(lines.clone()) } else { silent() })
    });
    let (sender, mut received) = mpsc::unbounded_channel();
    let note = move |note| drop(sender.send(note));
    let store = looping(cluster.with_settings(streaming()), note);
    while !matches!(received.recv().await, Some(WatchNote::Synced(_))) {}
    let objects = store.reader().list();
    assert_eq!(objects.iter().map(Object::name).collect::<Vec<_>>(), ["b"]);
}

/// The list does not begin again with its first page.
#[tokio::test(start_paused = true)]
async fn the_request_for_a_page_is_retried() {
    for (code, refusal) in [
        (429, json!({"code": 429, "details": {"retryAfterSeconds": 3}})),
        (503, json!({"code": 503})),
    ] {
        let (sender, mut received) = mpsc::unbounded_channel();
        let refused = AtomicUsize::new(0);
        let cluster = served_by(move |query| {
            let _ = sender.send(query.to_owned());
            match query {
                "limit=500" => (200, line(&page(&["a"], "more"))),
                _ if refused.fetch_add(1, Ordering::Relaxed) < 2 => (code, line(&refusal)),
                _ => (200, line(&page(&["b"], ""))),
            }
        });
        let list = cluster.list_all(&all_config_maps()).await.unwrap();
        assert_eq!(list.objects.len(), 2);
        let mut asked = Vec::new();
        while let Ok(query) = received.try_recv() {
            asked.push(query);
        }
        let next = "limit=500&continue=more".to_owned();
        assert_eq!(asked, ["limit=500".to_owned(), next.clone(), next.clone(), next]);
    }
}

/// As with a slow server, or with very large objects.
#[tokio::test(start_paused = true)]
async fn a_list_whose_pages_time_out_is_read_in_smaller_ones() {
    let (sender, mut asked) = mpsc::unbounded_channel();
    let cluster = served_by(move |query| {
        let _ = sender.send(query.to_owned());
        match query {
            "limit=125" => (200, line(&page(&["a"], "more"))),
            "limit=31" | "limit=1" => (200, line(&page(&["a"], ""))),
            _ => (200, silent()),
        }
    });
    let (note, mut received) = mpsc::unbounded_channel();
    let store = looping(cluster, move |it| drop(note.send(it)));
    while !matches!(received.recv().await, Some(WatchNote::Synced(_))) {}
    let lists = lists(&mut asked);
    let expected =
        ["limit=500", "limit=1", "limit=125", "limit=125&continue=more", "limit=1", "limit=31"];
    assert_eq!((lists, store.reader().list().len()), (expected.map(String::from).to_vec(), 1));
}

fn lists(asked: &mut mpsc::UnboundedReceiver<String>) -> Vec<String> {
    let mut lists = Vec::new();
    while let Ok(query) = asked.try_recv() {
        lists.extend(query.starts_with("limit=").then_some(query));
    }
    lists
}

/// Small pages make a list of many objects slow.
#[tokio::test(start_paused = true)]
async fn pages_are_only_smaller_while_a_reachable_server_needs_it() {
    for (what, silent_ones, expected) in [
        ("unreachable", ["limit=500", "limit=1"].repeat(3), vec!["limit=500"; 2]),
        ("slow", vec!["limit=500"], vec!["limit=1", "limit=125", "limit=500"]),
    ] {
        let (sender, mut asked) = mpsc::unbounded_channel();
        let (count, is_forgotten) = (silent_ones.len(), AtomicUsize::new(0));
        let queries = AtomicUsize::new(0);
        let cluster = served_by(move |query| {
            let _ = sender.send(query.to_owned());
            if queries.fetch_add(1, Ordering::Relaxed) < count {
                return (200, silent());
            }
            match query {
                query if !is_watch(query) => (200, line(&page(&["a"], ""))),
                _ if is_forgotten.fetch_add(1, Ordering::Relaxed) == 0 => (410, line(&json!({}))),
                _ => (200, silent()),
            }
        });
        let mut received = notes_of(cluster);
        while !matches!(received.recv().await, Some(WatchNote::Synced(_))) {}
        assert_eq!(lists(&mut asked), [silent_ones, expected].concat(), "{what}");
    }
}

/// How many pages of two lists a server is asked for at once at most.
async fn most_at_once(urgency: Urgency) -> usize {
    let (in_flight, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let cluster = cluster(tower::service_fn(move |request: Request<Body>| {
        let (in_flight, seen) = (in_flight.clone(), seen.clone());
        let is_last = request.uri().query().is_some_and(|query| query.contains("continue"));
        async move {
            seen.fetch_max(in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            in_flight.fetch_sub(1, Ordering::SeqCst);
            let page = if is_last { page(&["b"], "") } else { page(&["a"], "more") };
            Ok::<_, Infallible>(Response::new(line(&page)))
        }
    }));
    let (spec, listed) = (all_config_maps(), Listed::default());
    let list = || cluster.list(&spec, PAGE_SIZE, (&listed, urgency));
    let (one, other) = tokio::join!(list(), list());
    assert_eq!((one.unwrap().objects.len(), other.unwrap().objects.len()), (2, 2));
    most.load(Ordering::SeqCst)
}

#[tokio::test]
async fn lists_that_can_wait_are_read_one_page_at_a_time() {
    assert_eq!(most_at_once(Urgency::Urgent).await, 2);
    assert_eq!(most_at_once(Urgency::CanWait).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_hangs_does_not_delay_the_others_that_can_wait() {
    let (asked, mut is_asked) = mpsc::unbounded_channel();
    let cluster = cluster(tower::service_fn(move |request: Request<Body>| {
        let hangs = request.uri().path().contains("/namespaces/hangs/");
        let _ = asked.send(());
        async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(Response::new(line(&page(&["a"], ""))))
        }
    }));
    let hanging = WatchSpec { namespace: Some("hangs".to_owned()), ..all_config_maps() };
    let list = |spec: WatchSpec| {
        let cluster = cluster.clone();
        async move { cluster.list(&spec, PAGE_SIZE, (&Listed::default(), Urgency::CanWait)).await }
    };
    let hangs = tokio::spawn(list(hanging));
    is_asked.recv().await.unwrap();
    assert_eq!(list(all_config_maps()).await.unwrap().objects.len(), 1);
    assert!(!hangs.is_finished());
}
