//! Deletions that wait because not all of a type is known: that is told, and not with every reconcile.

use super::*;

fn setup() -> Setup {
    Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1))
}

fn quiet(asked: &scripted::Asked) -> Reply {
    if asked.is_about("/status") { with_status(&asked.body) } else { taken() }
}

/// The notes of the Events that were sent; none was counted up.
async fn told(world: &scripted::World) -> Vec<Value> {
    world.context().events().told().await;
    let is_event = |asked: &scripted::Asked| asked.is_about("/events");
    assert!(!world.asked("PATCH").iter().any(is_event));
    let sent = world.asked("POST").into_iter().filter(is_event);
    sent.map(|event| json!([event.body["reason"], event.body["note"]])).collect()
}

fn waits(for_what: &str) -> Value {
    let note = format!(
        "Pod.v1 ns/c: deletion waits until all objects of {for_what} are known; /readyz says why they \
         are not"
    );
    json!(["DeletionWaits", note])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_waits_for_a_list_is_told_once_and_again_for_another_reason() {
    let (unlisted, cut_off) = (setup().unlisted().before(quiet), setup().cut_off().before(quiet));
    let mut memory = Memory::default();
    for _ in 0..3 {
        memory = unlisted.run(memory).await.memory;
    }
    assert_eq!(told(&unlisted).await, [waits("Pod.v1")]);
    let memory = cut_off.run(memory).await.memory;
    assert_eq!(told(&cut_off).await, [waits("App.example.com/v1")]);
    assert!(cut_off.asked("DELETE").is_empty() && unlisted.asked("DELETE").is_empty());

    let well = setup().before(quiet);
    let memory = well.run(memory).await.memory;
    assert_eq!((told(&well).await, memory.announced().unsynced().len()), (vec![], 0));
    assert_eq!(well.asked("DELETE").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_an_old_list_hides_for_a_while_is_not_told_again() {
    let seen = setup().unlisted().before(quiet);
    let hidden = Setup::new(pods(), ChildConfig::apply()).unlisted().before(quiet);
    let memory = seen.run(Memory::default()).await.memory;
    let memory = hidden.run(memory).await.memory;
    seen.run(memory).await;
    assert_eq!((told(&seen).await, told(&hidden).await), (vec![waits("Pod.v1")], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_again_is_over_although_another_type_is_not_known_yet() {
    let services = K8sType::namespaced("v1", "Service", "services");
    let unlisted = setup().unlisted().before(quiet);
    let mut memory = Memory::default();
    memory.announced_mut().wait_for(services);
    let memory = unlisted.run(memory).await.memory;
    assert_eq!(memory.announced().unsynced().iter().collect::<Vec<_>>(), [&pods()]);
    assert_eq!(told(&unlisted).await, [waits("Pod.v1")]);
}
