//! What a process answers about a parent that another one works for.

use serde_json::Value;

use super::{create_parents, parents, process, until_all_ready, until_shared};
use crate::world::World;

#[operetta_harness::test]
async fn each_process_answers_for_each_parent_and_passes_commands_on() {
    let world = World::new().await;
    let (first, second) =
        futures::future::join(process(&world, "first"), process(&world, "second")).await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    let elsewhere = parents(&second).await.remove(0);
    second.until_synced("cook", &world.namespace, &elsewhere).await;
    let path = format!("/api/v1/operators/cook/parents/{}/{elsewhere}", world.namespace);
    let (code, body) = first.http(&path).await;
    assert_eq!(code, 200, "{body}");
    let shown: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&shown["name"], &shown["phase"]),
        (&Value::from(&*elsewhere), &Value::from("ready"))
    );
    let page = format!("/ui/operators/cook/parents/{}/{elsewhere}", world.namespace);
    assert_eq!(first.http(&page).await.0, 200);
    let before = second.reconciles("cook", &world.namespace, &elsewhere);
    let (code, body) = first.post(&format!("{path}/sync")).await;
    assert_eq!(code, 202, "{body}");
    second.until_reconciles("cook", &world.namespace, &elsewhere, before + 1).await;
    let nobody = format!("/api/v1/operators/cook/parents/{}/nobody", world.namespace);
    let (code, body) = first.http(&nobody).await;
    assert_eq!(code, 404, "{body}");
    first.stop().await;
    second.stop().await;
}
