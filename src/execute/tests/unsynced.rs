//! Deletions that wait because a type is not synced: announced once.

use super::*;

fn setup() -> Setup {
    Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1))
}

fn quiet(asked: &scripted::Asked) -> Reply {
    if asked.is_about("/status") { with_status(&asked.body) } else { taken() }
}

/// The reasons and notes of the Events that were sent; none was counted up.
async fn announced(world: &scripted::World) -> Vec<Value> {
    world.context().events().flush().await;
    let is_event = |asked: &scripted::Asked| asked.is_about("/events");
    assert!(!world.asked("PATCH").iter().any(is_event));
    let sent = world.asked("POST").into_iter().filter(is_event);
    sent.map(|event| json!([event.body["reason"], event.body["note"]])).collect()
}

fn waits(for_what: &str) -> Value {
    let note = format!(
        "Pod.v1 ns/c: deletion waits until all objects of {for_what} are listed; /readyz shows why \
         they are not"
    );
    json!(["DeletionWaits", note])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_waits_for_a_list_is_announced_once_per_type() {
    let (unlisted, cut_off) = (setup().unlisted().before(quiet), setup().cut_off().before(quiet));
    let mut memory = Memory::default();
    for _ in 0..3 {
        memory = unlisted.reconcile(memory).await.memory;
    }
    assert_eq!(announced(&unlisted).await, [waits("Pod.v1")]);
    let memory = cut_off.reconcile(memory).await.memory;
    assert_eq!(announced(&cut_off).await, [waits("App.example.com/v1")]);
    assert!(cut_off.asked("DELETE").is_empty() && unlisted.asked("DELETE").is_empty());

    let well = setup().before(quiet);
    let memory = well.reconcile(memory).await.memory;
    assert_eq!((announced(&well).await, memory.announced().unsynced().len()), (vec![], 0));
    assert_eq!(well.asked("DELETE").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_an_outdated_list_hides_is_not_announced_again() {
    let seen = setup().unlisted().before(quiet);
    let hidden = Setup::new(pods(), ChildConfig::apply()).unlisted().before(quiet);
    let memory = seen.reconcile(Memory::default()).await.memory;
    let memory = hidden.reconcile(memory).await.memory;
    seen.reconcile(memory).await;
    assert_eq!((announced(&seen).await, announced(&hidden).await), (vec![waits("Pod.v1")], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_is_listed_again_is_forgotten_although_another_is_not_listed() {
    let services = K8sType::namespaced("v1", "Service", "services");
    let unlisted = setup().unlisted().before(quiet);
    let mut memory = Memory::default();
    memory.announced_mut().wait_for(services);
    let memory = unlisted.reconcile(memory).await.memory;
    assert_eq!(memory.announced().unsynced().iter().collect::<Vec<_>>(), [&pods()]);
    assert_eq!(announced(&unlisted).await, [waits("Pod.v1")]);
}
