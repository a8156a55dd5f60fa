//! The shards of the embedded server: together they are the whole, in lists and in watches.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};
use http::Request;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, WatchEvent},
};
use operetta_apiserver::Server;
use serde_json::Value;

use crate::common::{config_map, config_maps, create};

const BOUNDS: [&str; 4] =
    ["0x0000000000000000", "0x5555555555555555", "0xaaaaaaaaaaaaaaaa", "0x10000000000000000"];
const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// The selectors of three shards.
fn shards() -> impl Iterator<Item = String> {
    let bounds = BOUNDS.iter().zip(&BOUNDS[1..]);
    bounds.map(|(start, end)| format!("shardRange(object.metadata.uid, '{start}', '{end}')"))
}

fn request(selector: &str, more: &str) -> Request<Vec<u8>> {
    let selector: String = form_urlencoded::byte_serialize(selector.as_bytes()).collect();
    Request::get(format!("{PATH}?shardSelector={selector}{more}")).body(Vec::new()).unwrap()
}

async fn list(client: &Client, selector: &str) -> Value {
    client.request(request(selector, "")).await.unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

/// A server with twenty config maps.
async fn filled(server: &Server) -> Client {
    let client = server.client_as("test/1.0");
    for number in 0..20 {
        create(&config_maps(&client), config_map(&format!("c{number:02}"), "v")).await;
    }
    client
}

#[operetta_harness::test]
async fn each_object_is_in_the_list_of_one_shard() {
    let server = Server::builder().seed(7).sharded_lists().start();
    let client = filled(&server).await;
    let mut found = Vec::new();
    for selector in shards() {
        let list = list(&client, &selector).await;
        assert_eq!(list["metadata"]["shardInfo"]["selector"], selector);
        let names = names(&list);
        assert!(!names.is_empty() && names.len() < 20, "{selector}: {names:?}");
        found.extend(names.iter().map(|&name| name.to_owned()));
    }
    found.sort();
    let all = list(&client, "").await;
    assert_eq!(all["metadata"].get("shardInfo"), None);
    assert_eq!(found, names(&all));
}

#[operetta_harness::test]
async fn each_event_is_in_the_watch_of_one_shard() {
    let server = Server::builder().seed(7).sharded_lists().start();
    let client = server.client_as("test/1.0");
    let mut watches = Vec::new();
    for selector in shards() {
        let request = request(&selector, "&watch=true&resourceVersion=0");
        let events = client.request_events::<DynamicObject>(request).await.unwrap();
        watches.push((selector, events.boxed()));
    }
    filled(&server).await;
    let api: Api<DynamicObject> = config_maps(&client);
    for number in 0..20 {
        api.delete(&format!("c{number:02}"), &DeleteParams::default()).await.unwrap();
    }
    let mut seen = BTreeMap::new();
    for (selector, events) in &mut watches {
        let mut left = 0;
        // All are made before one is deleted, so that none is left only at the end.
        while let Some(event) = events.try_next().await.unwrap() {
            let (name, made) = match event {
                WatchEvent::Added(object) => (object.metadata.name.unwrap(), true),
                WatchEvent::Deleted(object) => (object.metadata.name.unwrap(), false),
                other => panic!("{other:?}"),
            };
            let events: &mut Vec<_> = seen.entry(name).or_default();
            events.push((selector.clone(), made));
            left += if made { 1 } else { -1 };
            if left == 0 {
                break;
            }
        }
    }
    assert_eq!(seen.len(), 20);
    for (name, events) in seen {
        let [(added, true), (deleted, false)] = events.as_slice() else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(added, deleted, "{name}");
    }
}

#[operetta_harness::test]
async fn a_server_without_the_option_lists_everything() {
    let server = Server::start();
    let client = filled(&server).await;
    for selector in shards().chain(["nonsense".to_owned()]) {
        let list = list(&client, &selector).await;
        assert_eq!((names(&list).len(), list["metadata"].get("shardInfo")), (20, None));
    }
}
