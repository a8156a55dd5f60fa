//! When children are recreated, and when that would not help.

use std::time::Duration;

use super::*;

/// No object with this content is valid.
fn invalid() -> Reply {
    invalid_at("spec.x")
}

fn invalid_at(field: &str) -> Reply {
    let cause = json!({"field": field, "message": "Invalid value: 2: must be odd"});
    let details = json!({"name": "c", "causes": [cause]});
    (422, json!({"kind": "Status", "code": 422, "reason": "Invalid", "details": details}))
}

fn is_dry_run(asked: &scripted::Asked) -> bool {
    asked.is_about("dryRun=All")
}

fn is_of_new(asked: &scripted::Asked) -> bool {
    asked.is_about("/pods/operetta-trial-")
}

fn forbidden(words: &str) -> Reply {
    (403, json!({"kind": "Status", "code": 403, "reason": "Forbidden", "message": words}))
}

/// A world with a child to recreate, and the answers to the dry runs of the update and of a new object.
fn checking(update: Reply, create: Reply) -> scripted::World {
    let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
    setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if is_dry_run(asked) && is_of_new(asked) => create.clone(),
        "PATCH" if is_dry_run(asked) => update.clone(),
        "DELETE" => done(),
        _ => taken(),
    })
}

/// It would be deleted without replacement.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_is_not_deleted_for_content_that_is_invalid_in_any_object() {
    for (what, update, create, deletions) in [
        ("invalid", invalid(), invalid(), 0),
        ("no dry run", refusal(400, "BadRequest"), refusal(400, "BadRequest"), 0),
        ("no right to create", invalid(), refusal(403, "Forbidden"), 0),
        ("immutable in words of its own", invalid(), (201, child("9", 2)), 1),
        ("immutable", immutable_field(), (201, child("9", 2)), 1),
        ("immutable, invalid", immutable_field(), invalid(), 0),
        ("fine, invalid", (200, child("9", 2)), invalid(), 0),
        // The name of the dry run is or may be the cause.
        ("immutable, name", immutable_field(), invalid_at("metadata.name"), 1),
        ("immutable, all of it", immutable_field(), invalid_at("<nil>"), 1),
        (
            "no right to create, immutable",
            immutable_field(),
            forbidden("cannot create resource"),
            0,
        ),
        ("no right to create, fine", (200, child("9", 2)), forbidden("cannot create resource"), 0),
        ("forbidden Pod", immutable_field(), forbidden("violates PodSecurity"), 0),
        // The child itself uses the quota or port.
        ("no room beside it", invalid(), forbidden("exceeded quota: q, used: pods=5"), 1),
        ("no port beside it", invalid(), forbidden("provided port is already allocated"), 1),
    ] {
        let world = checking(update, create);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{what}: {report:?}");
        assert_eq!(world.asked("PATCH").iter().filter(|it| is_dry_run(it)).count(), 2, "{what}");
        assert_eq!(report.failure().is_some(), deletions == 0, "{what}: {report:?}");
    }
}

/// The dry run is repeated when the server is available.
#[tokio::test(flavor = "multi_thread")]
async fn a_transient_failure_of_a_dry_run_is_no_refusal() {
    let mut busy = refusal(429, "TooManyRequests");
    busy.1["details"] = json!({"retryAfterSeconds": 3});
    let waits = Finished::Throttled { after: Duration::from_secs(3) };
    for update in [invalid(), immutable_field(), (200, child("9", 2))] {
        for (create, expected) in
            [(busy.clone(), waits), (refusal(503, "ServiceUnavailable"), Finished::Failed)]
        {
            let world = checking(update.clone(), create);
            let report = world.reconcile(Memory::default()).await;
            assert_eq!(report.finished(world.config()), expected, "{report:?}");
            assert!(world.asked("DELETE").is_empty());
        }
    }
}

/// A policy that changes objects at creation would change the new one too; so a start over a thousand of them
/// deletes none.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_a_new_object_would_equal_is_kept_and_remembered() {
    let mut new = child("1", 1);
    new["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    new["metadata"]["name"] = json!("operetta-trial");
    new["metadata"]["uid"] = json!("new");
    for update in [(200, child("9", 2)), immutable_field()] {
        let world = checking(update, (201, new.clone()));
        let first = world.reconcile(Memory::default()).await;
        assert!(world.asked("DELETE").is_empty() && first.failure().is_none(), "{first:?}");
        let tried = world.asked("PATCH").iter().filter(|it| is_dry_run(it)).count();
        world.reconcile(first.memory).await;
        let again = world.asked("PATCH").iter().filter(|it| is_dry_run(it)).count();
        assert_eq!((tried, again), (2, 2), "it is checked once");
    }
}

/// No watch covers it.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_a_policy_keeps_without_our_label_is_a_failure() {
    let script = |asked: &scripted::Asked| {
        let mut unlabelled = child("8", 1);
        unlabelled["metadata"]["labels"] = json!({});
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if is_dry_run(asked) => (200, unlabelled),
            "PATCH" => refusal(409, "Conflict"),
            "GET" if asked.is_about("/apps/p") => (200, parent("9")),
            "GET" => (200, unlabelled),
            _ => taken(),
        }
    };
    let world = Setup::new(pods(), ChildConfig::recreate()).desiring(desired("c")).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert!(world.asked("DELETE").is_empty(), "{report:?}");
    let why = report.failure().map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("app.kubernetes.io/managed-by") || why.contains("parent-uid"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dry_run_of_a_new_object_has_the_desired_content() {
    let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => invalid(),
        _ => taken(),
    });
    world.reconcile(Memory::default()).await;
    let dry_run = world.asked("PATCH").into_iter().find(is_of_new).unwrap();
    let metadata = &dry_run.body["metadata"];
    assert!(dry_run.path.contains(metadata["name"].as_str().unwrap()), "{dry_run:?}");
    assert_eq!((&metadata["resourceVersion"], metadata.get("uid")), (&json!("1"), None));
    assert_eq!(dry_run.body["spec"], json!({"x": 2}));
}

/// A policy makes it differ permanently, and without its label it is not cached.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_without_our_label_is_labelled_and_not_recreated() {
    let script = |asked: &scripted::Asked| {
        let mut unlabelled = child("8", 1);
        unlabelled["metadata"]["labels"] = json!({});
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.body["metadata"].get("uid").is_none() => refusal(409, "Conflict"),
            "PATCH" => (200, child("9", 1)),
            "GET" if asked.is_about("/apps/p") => (200, parent("9")),
            "GET" => (200, unlabelled),
            "DELETE" => done(),
            _ => taken(),
        }
    };
    let world = Setup::new(pods(), ChildConfig::recreate()).desiring(desired("c")).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert!(world.asked("DELETE").is_empty(), "{report:?}");
    assert_eq!((report.writes.len(), world.is_cached("c")), (1, true), "{report:?}");
}

/// As after a restored backup: the cached parent may be outdated.
#[tokio::test(flavor = "multi_thread")]
async fn no_child_is_recreated_for_an_immutable_field_while_its_type_is_unsynced() {
    for (is_listed, deletions) in [(true, 1), (false, 0)] {
        let config = ChildConfig::apply().recreate_if_immutable();
        let setup = Setup::new(pods(), config).caching(child("5", 1)).desiring(desired("c"));
        let setup = if is_listed { setup } else { setup.unlisted() };
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if is_of_new(asked) => (201, child("9", 2)),
            "PATCH" => immutable_field(),
            "GET" if of_child(asked) => (200, child("5", 1)),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recreated_child_that_is_no_longer_desired_is_forgotten() {
    let id = |name: &str| ChildId { ty: pods(), key: ObjectKey::namespaced("ns", name) };
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 2));
    let world = setup.desiring(desired("c")).and(desired("new")).before(|asked| {
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => refusal(403, "Forbidden"),
            "GET" => (200, parent("3")),
            _ => taken(),
        }
    });
    let mut memory = Memory::default();
    for name in ["c", "new", "old"] {
        let left = Left::ToRecreate { immutable: Some(7) };
        let (child, verb, paths, rewrite) = (id(name), Verb::Deleted, Vec::new(), None);
        memory.learn_now(&Fact::Written(Written { child, verb, paths, rewrite, left }));
    }
    let report = world.reconcile(memory).await;
    let left: Vec<_> = report.memory.recreated().keys().cloned().collect();
    assert_eq!(left, ["c", "new"].map(id));
}

/// The message of the server does not name the option.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_immutable_field_is_reported_with_advice() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => immutable_field(),
        "GET" if asked.is_about("/apps/p") => (200, parent("3")),
        _ => taken(),
    };
    for (config, has_advice) in
        [(ChildConfig::apply(), true), (ChildConfig::apply().recreate_if_immutable(), false)]
    {
        let setup = Setup::new(pods(), config).desiring(desired("c"));
        let report = setup.before(script).reconcile(Memory::default()).await;
        let message = report.failure().map(ToString::to_string).unwrap_or_default();
        assert_eq!(
            message.contains("`ChildConfig::recreate_if_immutable`"),
            has_advice,
            "{message}"
        );
    }
}
