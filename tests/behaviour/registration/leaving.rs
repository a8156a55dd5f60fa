//! An operator that is deregistered leaves nothing in the process.

use operetta::supervisor::OnRemoval;

use super::*;

#[operetta_harness::test]
async fn an_operator_that_leaves_keeps_its_children_and_is_no_longer_shown() {
    let world = World::new().await;
    let operators = with_echo_server(&world).await;
    register_cook(&operators).await;
    let child = cooked(&world, "r").await;
    operators.settled().await;
    let parent = world.get(RECIPE, "r").await;
    let registrar = operators.running().registrar();
    assert!(operators.http("/metrics").await.1.contains("cook"));
    registrar.deregister("cook", OnRemoval::Leave).await.unwrap();
    assert_eq!(world.get(CONFIG_MAP, "r").await, child);
    assert_eq!(world.get(RECIPE, "r").await, parent);
    for path in ["/metrics", "/api/v1/operators", "/readyz?verbose", "/"] {
        let (code, shown) = operators.http(path).await;
        assert!(code == 200 && !shown.contains("cook"), "{path}: {shown}");
        assert!(!shown.contains("recipes"), "{path}: {shown}");
    }
    assert_eq!(operators.http("/api/v1/operators/cook").await.0, 404);
    // Nobody reacts any more.
    world.apply(RECIPE, recipe("r", &[])).await;
    operators.running().settled().await;
    assert_eq!(world.get(CONFIG_MAP, "r").await, child);
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_operator_that_is_registered_again_finds_its_children_and_writes_nothing() {
    let world = World::that_logs_requests().await;
    let operators = with_echo_server(&world).await;
    register_cook(&operators).await;
    for name in ["q", "r"] {
        cooked(&world, name).await;
    }
    let registrar = operators.running().registrar();
    operators.running().settled().await;
    registrar.deregister("cook", OnRemoval::Leave).await.unwrap();
    let before = world.our_requests().await.len();
    register_cook(&operators).await;
    operators.until_all_synced(3).await;
    operators.running().settled().await;
    let requests = world.our_requests().await.split_off(before);
    let writes: Vec<_> = requests.iter().filter(|request| request.is_write()).collect();
    assert!(writes.is_empty(), "{writes:?}");
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until(CONFIG_MAP, "r", "its deletion", Value::is_null).await;
    operators.stop().await;
}
