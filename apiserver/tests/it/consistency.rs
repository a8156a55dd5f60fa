//! Watches and lists are consistent under concurrent writes.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, future::join_all};
use kube::{
    Api,
    api::{
        DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent,
        WatchParams,
    },
};
use serde_json::json;

use crate::common::{config_map, config_maps, create, server};

/// Follows a watch up to a version, and returns the resulting state.
async fn follow(api: Api<DynamicObject>, from: String, until: u64) -> BTreeMap<String, String> {
    let params = WatchParams::default();
    let mut events = api.watch(&params, &from).await.unwrap().boxed();
    let mut state = BTreeMap::new();
    let mut last = 0;
    while last < until {
        let event = events.try_next().await.unwrap().expect("the watch continues");
        let (gone, object) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => (false, object),
            WatchEvent::Deleted(object) => (true, object),
            other => panic!("not an object: {other:?}"),
        };
        let version = object.metadata.resource_version.unwrap();
        assert!(last < version.parse().unwrap(), "{version} came after {last}");
        last = version.parse().unwrap();
        let name = object.metadata.name.unwrap();
        let _ = if gone { state.remove(&name) } else { state.insert(name, version) };
    }
    state
}

#[operetta_harness::test]
async fn watches_from_any_version_lead_to_the_state_that_is_listed() {
    let (server, client) = server();
    let api = config_maps(&client);
    let start = server.resource_version();
    let write = |writer: usize| {
        let api = api.clone();
        async move {
            for step in 0..60 {
                let name = format!("o{}", (writer * 7 + step * 3) % 10);
                if (writer + step).is_multiple_of(4) {
                    drop(api.delete(&name, &DeleteParams::default()).await);
                    continue;
                }
                let value = config_map(&name, &format!("{writer}-{step}"));
                let params = PatchParams::apply("w").force();
                api.patch(&name, &params, &Patch::Apply(value)).await.unwrap();
            }
        }
    };
    join_all((0..4).map(write)).await;
    create(&api, config_map("last", "1")).await;
    let end = server.resource_version();
    let list = api.list(&ListParams::default()).await.unwrap();
    let listed: BTreeMap<String, String> = list
        .items
        .into_iter()
        .map(|o| (o.metadata.name.unwrap(), o.metadata.resource_version.unwrap()))
        .collect();
    let told = follow(api.clone(), start.to_string(), end).await;
    assert_eq!(told, listed);
}

#[operetta_harness::test]
async fn of_many_writers_with_a_version_each_counts_once() {
    let (_server, client) = server();
    let api = config_maps(&client);
    create(&api, config_map("counter", "0")).await;
    let count = || async {
        for _ in 0..20 {
            loop {
                let mut object = api.get("counter").await.unwrap();
                let count: u32 = object.data["data"]["key"].as_str().unwrap().parse().unwrap();
                object.data["data"]["key"] = json!((count + 1).to_string());
                match api.replace("counter", &PostParams::default(), &object).await {
                    Ok(_) => break,
                    Err(kube::Error::Api(status)) if status.code == 409 => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    };
    join_all((0..4).map(|_| count())).await;
    assert_eq!(api.get("counter").await.unwrap().data["data"]["key"], "80");
}
