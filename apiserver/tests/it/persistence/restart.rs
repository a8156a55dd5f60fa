//! A server in process that is dropped and started again with its data directory.

use futures::{StreamExt, TryStreamExt, future::join_all};
use kube::{
    Api, Client,
    api::{
        DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent,
        WatchParams,
    },
};
use operetta_apiserver::Server;
use serde_json::{Value, json};

use super::folder::Folder;
use crate::common::{
    api, config_map, config_maps, create, define_widgets, gone, refusal, widget, widgets,
};

fn start(folder: &Folder) -> (Server, Client) {
    let server = Server::builder().seed(1).start_in(folder.path()).expect("it is a data directory");
    let client = server.client();
    (server, client)
}

#[operetta_harness::test]
async fn objects_and_versions_and_types_are_there_after_a_restart() {
    let folder = Folder::new("objects");
    let (server, client) = start(&folder);
    define_widgets(&client).await;
    let before = create(&widgets(&client), widget("a", 1)).await;
    let version = server.resource_version();
    server.close().await;
    let (server, client) = start(&folder);
    assert_eq!(server.resource_version(), version, "a start writes nothing");
    assert_eq!(widgets(&client).get("a").await.unwrap(), before);
    let after = create(&widgets(&client), widget("b", 2)).await;
    assert_ne!(before.metadata.uid, after.metadata.uid);
    assert_eq!(after.metadata.resource_version, Some((version + 1).to_string()));
    let again = serde_json::from_value(widget("a", 1)).unwrap();
    let (code, ..) = refusal(widgets(&client).create(&PostParams::default(), &again).await);
    assert_eq!(code, 409);
}

#[operetta_harness::test]
async fn addresses_and_ports_of_services_stay_taken() {
    let folder = Folder::new("services");
    let (server, client) = start(&folder);
    let services = |client: &Client| api(client, "v1", "Service", "default");
    let service = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    };
    let taken = |object: &DynamicObject| {
        let spec = &object.data["spec"];
        (spec["clusterIP"].clone(), spec["ports"][0]["nodePort"].clone())
    };
    let before = taken(&create(&services(&client), service("a")).await);
    server.close().await;
    let (_server, client) = start(&folder);
    let after = taken(&create(&services(&client), service("b")).await);
    assert_ne!(before.0, after.0);
    assert_ne!(before.1, after.1);
    let mut same = service("c");
    same["spec"]["clusterIP"] = before.0;
    let same = serde_json::from_value(same).unwrap();
    let (code, _, message) = refusal(services(&client).create(&PostParams::default(), &same).await);
    assert_eq!(code, 422, "{message}");
}

#[operetta_harness::test]
async fn deletions_in_progress_continue() {
    let folder = Folder::new("deletions");
    let (server, client) = start(&folder);
    let namespaces = |client: &Client| api(client, "v1", "Namespace", "");
    let held = |client: &Client| api(client, "v1", "ConfigMap", "left");
    let name = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "left"}});
    create(&namespaces(&client), name).await;
    let mut object = config_map("held", "");
    object["metadata"]["namespace"] = json!("left");
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&held(&client), object).await;
    namespaces(&client).delete("left", &DeleteParams::default()).await.unwrap();
    server.close().await;
    let (_server, client) = start(&folder);
    let patch: Patch<Value> = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    held(&client).patch("held", &PatchParams::default(), &patch).await.unwrap();
    gone(&namespaces(&client), "left").await;
}

#[operetta_harness::test(paused)]
async fn dependents_of_an_owner_that_is_gone_are_collected_after_a_restart() {
    let folder = Folder::new("garbage");
    let (server, client) = start(&folder);
    let owner = create(&config_maps(&client), config_map("owner", "")).await;
    let mut dependent = config_map("dependent", "");
    dependent["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid,
    }]);
    create(&config_maps(&client), dependent).await;
    // The collector runs after the answer: on a runtime of one thread not before the server is dropped.
    config_maps(&client).delete("owner", &DeleteParams::default()).await.unwrap();
    server.close().await;
    let (_server, client) = start(&folder);
    gone(&config_maps(&client), "dependent").await;
}

#[operetta_harness::test]
async fn a_watch_continues_where_it_was_with_what_an_object_was_before() {
    let folder = Folder::new("watch");
    let (server, client) = start(&folder);
    let mut object = config_map("a", "1");
    object["metadata"]["labels"] = json!({"chosen": "yes"});
    let version = create(&config_maps(&client), object).await.metadata.resource_version.unwrap();
    let patch: Patch<Value> = Patch::Merge(json!({"metadata": {"labels": null}}));
    config_maps(&client).patch("a", &PatchParams::default(), &patch).await.unwrap();
    server.close().await;
    let (_server, client) = start(&folder);
    let chosen = WatchParams::default().labels("chosen=yes");
    let mut events = config_maps(&client).watch(&chosen, &version).await.unwrap().boxed();
    let event = events.try_next().await.unwrap();
    let Some(WatchEvent::Deleted(object)) = event else { panic!("{event:?}") };
    assert_eq!(object.metadata.labels.unwrap()["chosen"], "yes");
}

#[operetta_harness::test]
async fn a_watch_of_a_version_that_was_compacted_before_the_restart_is_expired() {
    let folder = Folder::new("compaction");
    let (server, client) = start(&folder);
    let version = create(&config_maps(&client), config_map("a", "1")).await;
    let version = version.metadata.resource_version.unwrap();
    create(&config_maps(&client), config_map("b", "1")).await;
    server.compact();
    create(&config_maps(&client), config_map("c", "1")).await;
    server.close().await;
    let (_server, client) = start(&folder);
    let mut events =
        config_maps(&client).watch(&WatchParams::default(), &version).await.unwrap().boxed();
    let event = events.try_next().await.unwrap();
    let Some(WatchEvent::Error(status)) = event else { panic!("{event:?}") };
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
    let all = config_maps(&client).list(&ListParams::default()).await.unwrap();
    assert_eq!(all.items.len(), 3);
}

#[operetta_harness::test]
async fn more_revisions_than_the_history_are_folded_and_no_object_is_lost() {
    let folder = Folder::new("history");
    let start = || Server::builder().history(10).start_in(folder.path()).unwrap();
    let server = start();
    let objects = config_maps(&server.client());
    let churn = |number: u64| {
        let (objects, name) = (objects.clone(), format!("a{number}"));
        async move {
            create(&objects, config_map(&name, "1")).await;
            let patch: Patch<Value> = Patch::Merge(json!({"data": {"key": "2"}}));
            objects.patch(&name, &PatchParams::default(), &patch).await.unwrap();
            if number.is_multiple_of(3) {
                objects.delete(&name, &DeleteParams::default()).await.unwrap();
            }
        }
    };
    join_all((0..600).map(churn)).await;
    let before = objects.list(&ListParams::default()).await.unwrap();
    server.close().await;
    let after = config_maps(&start().client()).list(&ListParams::default()).await.unwrap();
    assert_eq!(after.metadata, before.metadata);
    assert_eq!(after.items, before.items);
    assert_eq!(after.items.len(), 400);
}

#[operetta_harness::test]
async fn a_restored_backup_is_what_a_restart_finds() {
    let folder = Folder::new("backup");
    let (server, client) = start(&folder);
    let kept = create(&config_maps(&client), config_map("a", "1")).await;
    let backup = server.backup();
    create(&config_maps(&client), config_map("b", "1")).await;
    server.restore(&backup);
    server.close().await;
    let (server, client) = start(&folder);
    let all: Api<DynamicObject> = config_maps(&client);
    let all = all.list(&ListParams::default()).await.unwrap().items;
    let metadata: Vec<_> = all.into_iter().map(|object| object.metadata).collect();
    assert_eq!(metadata, [kept.metadata]);
    assert!(server.resource_version() > 0);
}
