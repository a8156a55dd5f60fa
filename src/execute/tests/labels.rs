//! Children without the label that the watch selects.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_terminating_child_without_our_label_is_created_again() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let ended = is_gone.clone();
    let script = move |asked: &scripted::Asked| {
        let is_gone = ended.load(Ordering::Acquire);
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if asked.is_about("/apps/p") => (200, parent("9")),
            "PATCH" if is_gone => {
                let mut created = asked.body.clone();
                created["metadata"]["uid"] = json!("new");
                created["metadata"]["resourceVersion"] = json!("20");
                (201, created)
            }
            "PATCH" => refusal(409, "Conflict"),
            "GET" if is_gone => refusal(404, "NotFound"),
            "GET" => {
                let mut ending = child("8", 2);
                ending["metadata"]["labels"] = json!({});
                ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                (200, ending)
            }
            _ => taken(),
        }
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    let first = world.reconcile(Memory::default()).await;
    assert!(first.writes.is_empty() && !first.waiting.is_empty(), "{first:?}");
    is_gone.store(true, Ordering::Release);
    let second = world.reconcile(first.memory).await;
    assert_eq!(second.writes.len(), 1, "{:?}", second.waiting);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_without_our_label_that_we_delete_is_created_again() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let ended = is_gone.clone();
    let script = move |asked: &scripted::Asked| {
        let is_gone = ended.load(Ordering::Acquire);
        let mut unlabelled = child("8", 1);
        unlabelled["metadata"]["labels"] = json!({});
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if asked.is_about("/apps/p") => (200, parent("9")),
            "PATCH" if is_gone => {
                let mut created = asked.body.clone();
                created["metadata"]["uid"] = json!("new");
                created["metadata"]["resourceVersion"] = json!("20");
                (201, created)
            }
            "PATCH" => refusal(409, "Conflict"),
            "GET" if is_gone => refusal(404, "NotFound"),
            "GET" => (200, unlabelled),
            "DELETE" => {
                unlabelled["metadata"]["resourceVersion"] = json!("9");
                unlabelled["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                (200, unlabelled)
            }
            _ => taken(),
        }
    };
    let world = Setup::new(pods(), ChildConfig::recreate()).desiring(desired("c")).before(script);
    let first = world.reconcile(Memory::default()).await;
    assert_eq!((first.writes.len(), world.asked("DELETE").len()), (1, 1), "{first:?}");
    assert!(!world.is_cached("c"), "no watch would report its deletion");
    is_gone.store(true, Ordering::Release);
    let second = world.reconcile(first.memory).await;
    assert_eq!(second.writes.len(), 1, "{:?}", second.waiting);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_the_server_stores_without_our_label_is_a_failure_and_not_cached() {
    let script = |asked: &scripted::Asked| {
        let mut unlabelled = child("8", 1);
        unlabelled["metadata"]["labels"] = json!({});
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.body["metadata"].get("uid").is_none() => refusal(409, "Conflict"),
            "GET" if asked.is_about("/apps/p") => (200, parent("9")),
            "PATCH" | "GET" => (200, unlabelled),
            _ => taken(),
        }
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    let mut memory = Memory::default();
    for _ in 0..2 {
        let report = world.reconcile(memory).await;
        let failure = report.failure().unwrap().to_string();
        assert!(failure.contains("without the label `app.kubernetes.io/managed-by`"), "{failure}");
        let longest = std::time::Duration::from_mins(10);
        let expected = Finished::FailedUntilGone { is_passing: false, at_most: longest };
        assert_eq!(report.finished(world.config()), expected);
        assert!(!world.is_cached("c"), "no watch covers it");
        memory = report.memory;
    }
}
