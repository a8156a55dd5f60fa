//! Which children a reconcile deletes, how often it tries, and what prevents it.

use super::*;

/// A foreign object with the name of a child.
fn foreign(owners: Value) -> Reply {
    let mut live = child("8", 1);
    live["metadata"]["name"] = json!("c-v2");
    live["metadata"]["ownerReferences"] = owners;
    (200, live)
}

/// The server names the manager of a field.
fn held() -> Reply {
    let cause = json!({
        "reason": "FieldManagerConflict", "field": ".spec.x", "message": "conflict with \"me\"",
    });
    let details = json!({"name": "c-v2", "causes": [cause]});
    (409, json!({"kind": "Status", "code": 409, "reason": "Conflict", "details": details}))
}

/// The refused write may be the replacement.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_with_a_write_that_is_not_accepted_deletes_nothing() {
    let ours = child("8", 1)["metadata"]["ownerReferences"].clone();
    let reporting = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let mut ending = foreign(json!([]));
    ending.1["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let (adopting, conflict) = (ChildConfig::apply().adopting(), || refusal(409, "Conflict"));
    for (what, config, answer, live, expected) in [
        ("refused", ChildConfig::apply(), refusal(403, "Forbidden"), taken(), 0),
        ("foreign", ChildConfig::apply(), refusal(409, "Conflict"), foreign(json!([])), 0),
        ("held by others", reporting, held(), foreign(ours), 0),
        ("ending", ChildConfig::apply(), conflict(), ending, 0),
        ("changing while it is adopted", adopting, conflict(), foreign(json!([])), 0),
        ("accepted", ChildConfig::apply(), (201, child("9", 2)), taken(), 1),
    ] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => answer.clone(),
            "GET" if asked.is_about("/pods/c-v2") => live.clone(),
            "GET" => (200, parent("3")),
            "DELETE" => done(),
            _ => taken(),
        };
        let world = Setup::new(pods(), config).caching(child("5", 1)).desiring(desired("c-v2"));
        let world = world.before(script);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), expected, "{what}: {report:?}");
    }
}

/// It will be recreated, and may replace the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_was_deleted_while_others_held_it_delays_deletions() {
    let mut other = child("6", 1);
    other["metadata"]["name"] = json!("d");
    other["metadata"]["uid"] = json!("du");
    let config = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let setup = Setup::new(pods(), config).caching(child("5", 1)).caching(other);
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => held(),
        "GET" => (404, json!({"kind": "Status", "code": 404, "details": {"name": "c"}})),
        "DELETE" => done(),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    assert!(report.failure().is_none() && report.waiting.len() == 2, "{report:?}");
    assert!(world.asked("DELETE").is_empty());
}

/// Its change would wait forever for something that others must fix.
#[tokio::test(flavor = "multi_thread")]
async fn a_recreation_waits_for_other_writes_only_after_transient_failures() {
    for (code, reason, deletions) in [(422, "Invalid", 1), (503, "ServiceUnavailable", 0)] {
        let answer = refusal(code, reason);
        let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
        let setup = setup.desiring(desired("bad")).and(desired("c"));
        let world = setup.before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("/pods/bad") => answer.clone(),
            "PATCH" => (200, child("9", 2)),
            "GET" if asked.is_about("/apps/p") => (200, parent("3")),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{code}: {report:?}");
        assert!(report.failure().is_some(), "{report:?}");
        // It is recreated at once, whatever the other waits for.
        assert_eq!(
            report.finished(world.config()) == Finished::Recreating,
            deletions == 1,
            "{code}"
        );
    }
}

/// Its deletion ends the backoff of another child; its changes do not.
#[tokio::test(flavor = "multi_thread")]
async fn a_recreation_of_a_terminating_child_waits_for_no_backoff_of_another() {
    let mut ending = child("5", 1);
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let at_most = std::time::Duration::from_mins(1);
    for (answer, status, is_passing) in [
        (refusal(422, "Invalid"), None, false),
        (refusal(500, "InternalError"), None, true),
        // The failure is not reported yet.
        (refusal(422, "Invalid"), Some(refusal(500, "InternalError")), true),
    ] {
        let setup = Setup::new(pods(), ChildConfig::recreate()).caching(ending.clone());
        let setup = setup.desiring(desired("bad")).and(desired("good")).and(desired("c"));
        let world = setup.before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => {
                status.clone().unwrap_or_else(|| with_status(&asked.body))
            }
            "PATCH" if asked.is_about("/pods/good") => {
                let mut good = child("9", 2);
                good["metadata"]["name"] = json!("good");
                (201, good)
            }
            "PATCH" => answer.clone(),
            "GET" if asked.is_about("/apps/p") => (200, parent("3")),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        // Another write does not trigger a retry at once.
        assert_eq!(report.writes.len(), 1, "{report:?}");
        let expected = Finished::FailedUntilGone { is_passing, at_most };
        assert_eq!(report.finished(world.config()), expected, "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_irreplaceable_child_is_not_deleted_for_a_parent_that_has_changed() {
    for (version, deletions, end) in [("3", 1, End::Alive), ("4", 0, End::Outdated)] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if asked.is_about("/apps/p") => (200, parent(version)),
            "GET" => (200, child("5", 1)),
            "DELETE" => done(),
            _ => taken(),
        };
        let world = Setup::new(secrets(), ChildConfig::apply()).caching(child("5", 1));
        let world = world.before(script);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!((world.asked("DELETE").len(), report.end), (deletions, end));
    }
}

/// Someone changes it between each read and each deletion.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_of_a_child_that_keeps_changing_is_tried_three_times_and_is_no_failure() {
    let version = AtomicUsize::new(5);
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "GET" if asked.is_about("/pods/c") => {
            (200, child(&version.fetch_add(1, Ordering::AcqRel).to_string(), 1))
        }
        "DELETE" => refusal(409, "Conflict"),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1)).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(world.asked("DELETE").len(), 3);
    assert!(report.failure().is_none() && report.waiting.len() == 1, "{report:?}");
    let after = std::time::Duration::from_secs(10);
    assert_eq!(report.finished(world.config()), Finished::Recheck { after }, "a recheck");
}

/// An admission policy changes every new object in the same way.
#[tokio::test(flavor = "multi_thread")]
async fn a_recreation_without_effect_is_checked_once() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("dryRun=All") => (200, child("5", 1)),
        "DELETE" => done(),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::recreate())
        .caching(child("5", 1))
        .desiring(desired("c"))
        .before(script);
    let first = world.reconcile(Memory::default()).await;
    world.reconcile(first.memory).await;
    let trials = world.asked("PATCH").into_iter().filter(|asked| asked.is_about("dryRun=All"));
    assert_eq!((trials.count(), world.asked("DELETE").len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_deletion_has_a_propagation_policy() {
    let orphaning = ChildConfig::apply().with_propagation(Propagation::Orphan);
    let waiting = ChildConfig::recreate().with_propagation(Propagation::Foreground);
    for (config, expected) in
        [(ChildConfig::apply(), "Background"), (orphaning, "Orphan"), (waiting, "Foreground")]
    {
        let setup = Setup::new(pods(), config).caching(child("5", 1));
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" => with_status(&asked.body),
            "DELETE" => done(),
            _ => taken(),
        });
        world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE")[0].body["propagationPolicy"], expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_child_is_cached_as_in_the_reply() {
    let ending = |grace: u64, finalizers: &[&str]| {
        let mut ending = child("6", 1);
        ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        ending["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        ending["metadata"]["finalizers"] = json!(finalizers);
        (200, ending)
    };
    for (answer, is_cached) in [
        (ending(30, &[]), true),
        (ending(0, &["example.com/backup"]), true),
        // The reply for a Pod without a node: it need not be waited for.
        (ending(0, &[]), false),
        (done(), false),
        ((200, child("6", 1)), false),
    ] {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
        let world = setup.before(move |asked| match asked.method.as_str() {
            "PATCH" => with_status(&asked.body),
            "DELETE" => answer.clone(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!((report.deletions(), world.is_cached("c")), (1, is_cached));
    }
}

/// Children in other namespaces may belong to the parent.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_of_a_cross_namespace_type_is_deleted_only_when_all_namespaces_are_listed() {
    for (is_listed, deletions) in [(true, 1), (false, 0)] {
        let config = ChildConfig::apply().delete_with_finalizer();
        let setup = Setup::new(pods(), config).caching(child("5", 1));
        let setup = if is_listed { setup } else { setup.partly_listed() };
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => {
                let mut held = parent("4");
                held["metadata"]["finalizers"] = json!(["operetta.dev/op"]);
                (200, held)
            }
            "DELETE" => done(),
            _ => taken(),
        });
        world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions);
    }
}

/// The refusal may be permanent.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_deletion_does_not_stop_the_others() {
    let mut other = child("6", 1);
    other["metadata"]["name"] = json!("d");
    other["metadata"]["uid"] = json!("du");
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 1))
        .caching(other)
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" if of_child(asked) => refusal(403, "Forbidden"),
            "DELETE" => done(),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"));
    assert_eq!((world.asked("DELETE").len(), report.writes.len()), (2, 1), "{report:?}");
}

/// It is deleted with orphan propagation, or not selected any more.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_after_the_parent_has_left() {
    let mut other = child("6", 1);
    (other["metadata"]["name"], other["metadata"]["uid"]) = (json!("d"), json!("du"));
    let operator = Arc::new(std::sync::OnceLock::<Arc<Context>>::new());
    let context = operator.clone();
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1)).caching(other);
    let world = setup.before(move |asked| match asked.method.as_str() {
        "DELETE" => {
            let (key, uid) = (ObjectKey::namespaced("ns", "p"), Uid::new("pu"));
            let gone = Cache::Absent(ChildId { ty: app(), key }, uid);
            context.get().unwrap().cache(None, gone);
            done()
        }
        _ => taken(),
    });
    let _ = operator.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    assert_eq!((world.asked("DELETE").len(), report.end), (1, End::Outdated), "{report:?}");
}

/// The new spec may want the child.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_after_the_parent_is_found_changed() {
    let world = Setup::new(secrets(), ChildConfig::apply())
        .caching(child("5", 1))
        .caching_beside(pods(), child("6", 1))
        .before(|asked| match asked.method.as_str() {
            "GET" if asked.is_about("/apps/p") => {
                let mut changed = parent("4");
                changed["metadata"]["generation"] = json!(2);
                (200, changed)
            }
            "DELETE" => done(),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.end, End::Outdated);
    assert!(world.asked("DELETE").is_empty(), "{:#?}", world.asked("DELETE"));
}
