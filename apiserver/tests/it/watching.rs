//! Watches: order, selectors, resuming, bookmarks, and their ends.

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::json;

use crate::common::{config_map, config_maps, create, server};

type Events = BoxStream<'static, Result<WatchEvent<DynamicObject>, kube::Error>>;

async fn watch(api: &Api<DynamicObject>, params: WatchParams, version: &str) -> Events {
    api.watch(&params, version).await.expect("it can be watched").boxed()
}

/// The next event as a word and a name.
async fn next(events: &mut Events) -> (String, String) {
    let name = |o: DynamicObject| o.metadata.name.unwrap_or_default();
    match events.try_next().await.expect("the watch continues").expect("the watch continues") {
        WatchEvent::Added(o) => ("ADDED".to_owned(), name(o)),
        WatchEvent::Modified(o) => ("MODIFIED".to_owned(), name(o)),
        WatchEvent::Deleted(o) => ("DELETED".to_owned(), name(o)),
        WatchEvent::Bookmark(b) => ("BOOKMARK".to_owned(), b.metadata.resource_version),
        WatchEvent::Error(e) => ("ERROR".to_owned(), format!("{} {}", e.code, e.reason)),
    }
}

fn event(word: &str, name: &str) -> (String, String) {
    (word.to_owned(), name.to_owned())
}

#[operetta_harness::test]
async fn a_watch_begins_with_the_state_and_continues_with_changes() {
    let (_server, client) = server();
    let api = config_maps(&client);
    create(&api, config_map("a", "1")).await;
    let mut events = watch(&api, WatchParams::default().disable_bookmarks(), "0").await;
    assert_eq!(next(&mut events).await, event("ADDED", "a"));
    create(&api, config_map("b", "1")).await;
    let change = Patch::Merge(json!({"data": {"key": "2"}}));
    api.patch("a", &PatchParams::default(), &change).await.unwrap();
    api.delete("b", &DeleteParams::default()).await.unwrap();
    for expected in [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")] {
        assert_eq!(next(&mut events).await, event(expected.0, expected.1));
    }
}

#[operetta_harness::test]
async fn an_object_that_leaves_a_selector_is_deleted_for_that_watch() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let mut events =
        watch(&api, WatchParams::default().labels("tier=web").disable_bookmarks(), "0").await;
    create(&api, config_map("a", "1")).await;
    let label = |tier: &str| Patch::Merge(json!({"metadata": {"labels": {"tier": tier}}}));
    let params = PatchParams::default();
    api.patch("a", &params, &label("web")).await.unwrap();
    let left = api.patch("a", &params, &label("db")).await.unwrap();
    assert_eq!(next(&mut events).await, event("ADDED", "a"));
    let WatchEvent::Deleted(last) = events.try_next().await.unwrap().unwrap() else {
        panic!("it is not deleted");
    };
    assert_eq!(last.metadata.resource_version, left.metadata.resource_version);
    assert_eq!(last.metadata.labels.unwrap()["tier"], "web");
}

#[operetta_harness::test]
async fn a_watch_resumes_from_its_version_or_gets_410_in_the_stream() {
    let (server, client) = server();
    let api = config_maps(&client);
    let version = create(&api, config_map("a", "1")).await.metadata.resource_version.unwrap();
    create(&api, config_map("b", "1")).await;
    let mut events = watch(&api, WatchParams::default(), &version).await;
    assert_eq!(next(&mut events).await, event("ADDED", "b"));
    server.compact();
    let mut events = watch(&api, WatchParams::default(), &version).await;
    assert_eq!(next(&mut events).await, event("ERROR", "410 Expired"));
    assert!(events.try_next().await.unwrap().is_none());
}

#[operetta_harness::test(paused)]
async fn a_streamed_list_ends_with_the_annotated_bookmark_and_continues_with_plain_ones() {
    let (server, client) = server();
    let api = config_maps(&client);
    create(&api, config_map("a", "1")).await;
    let params = WatchParams::default().initial_events();
    let mut events = watch(&api, params, "0").await;
    assert_eq!(next(&mut events).await, event("ADDED", "a"));
    let WatchEvent::Bookmark(bookmark) = events.try_next().await.unwrap().unwrap() else {
        panic!("it is not a bookmark");
    };
    assert_eq!(bookmark.metadata.annotations["k8s.io/initial-events-end"], "true");
    let version = server.resource_version().to_string();
    assert_eq!(next(&mut events).await, event("BOOKMARK", &version));
}

#[operetta_harness::test]
async fn open_watches_are_known_and_can_be_cut() {
    let (server, client) = server();
    let api = config_maps(&client);
    let mut events = watch(&api, WatchParams::default().disable_bookmarks(), "0").await;
    let open: Vec<String> = server.open_watches().into_iter().map(|w| w.resource).collect();
    assert_eq!(open, ["configmaps"]);
    server.cut_watches();
    assert!(events.try_next().await.unwrap().is_none());
    drop(events);
    assert!(server.open_watches().is_empty());
}

#[operetta_harness::test(paused)]
async fn a_watch_ends_at_its_timeout() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let params = WatchParams { bookmarks: false, ..WatchParams::default().timeout(5) };
    let mut events = watch(&api, params, "0").await;
    assert!(events.try_next().await.unwrap().is_none());
}
