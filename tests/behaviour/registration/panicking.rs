//! An operator that was registered while the process runs is restarted after a panic like one of the start.

use operetta::supervisor::OnRemoval;

use super::*;

#[operetta_harness::test]
async fn a_registered_operator_that_panics_goes_on_without_writes_and_can_still_leave() {
    let world = World::that_logs_requests().await;
    let operators = with_echo_server(&world).await;
    register_cook(&operators).await;
    cooked(&world, "first").await;
    operators.running().settled().await;
    let before = world.our_requests().await.len();
    operators.running().board().let_panic("the operator cook", 1);
    // The operator panics at this parent.
    cooked(&world, "second").await;
    operators.running().settled().await;
    let (_, cook) = operators.http("/api/v1/operators/cook").await;
    let cook: Value = serde_json::from_str(&cook).unwrap();
    assert_eq!((&cook["state"], &cook["restarts"]["count"]), (&json!("running"), &json!(1)));
    let requests = world.our_requests().await.split_off(before);
    let of_first = requests.iter().filter(|it| it.is_write() && it.uri.contains("/first"));
    assert_eq!(of_first.count(), 0, "{requests:?}");
    operators.running().registrar().deregister("cook", OnRemoval::Leave).await.unwrap();
    for path in ["/metrics", "/api/v1/operators", "/readyz?verbose"] {
        let (_, shown) = operators.http(path).await;
        assert!(!shown.contains("cook"), "{path}: {shown}");
    }
    operators.stop().await;
}
