//! Children that are deleted so that others come after them, and when that would be in vain.

use super::*;

/// No object may be like that.
fn invalid() -> Reply {
    let cause = json!({"field": "spec.x", "message": "Invalid value: 2: must be odd"});
    let details = json!({"name": "c", "causes": [cause]});
    (422, json!({"kind": "Status", "code": 422, "reason": "Invalid", "details": details}))
}

fn is_trial(asked: &scripted::Asked) -> bool {
    asked.is_about("dryRun=All")
}

fn is_elsewhere(asked: &scripted::Asked) -> bool {
    asked.is_about("/pods/operetta-trial-")
}

/// It would be gone, and nothing would come after it.
#[tokio::test]
async fn a_child_is_not_deleted_for_what_no_object_may_be() {
    for (what, update, anew, deletions, trials) in [
        ("invalid", invalid(), invalid(), 0, 2),
        ("no dry run", refusal(400, "BadRequest"), refusal(400, "BadRequest"), 0, 2),
        ("immutable in words of its own", invalid(), (201, child("9", 2)), 1, 2),
        ("immutable", immutable_field(), invalid(), 1, 1),
    ] {
        let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
        let world = setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if is_trial(asked) && is_elsewhere(asked) => anew.clone(),
            "PATCH" if is_trial(asked) => update.clone(),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.run(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{what}: {report:?}");
        assert_eq!(world.asked("PATCH").iter().filter(|it| is_trial(it)).count(), trials, "{what}");
        assert_eq!(report.failure().is_some(), deletions == 0, "{what}: {report:?}");
    }
}

#[tokio::test]
async fn what_is_tried_elsewhere_is_a_new_object_of_the_same_wish() {
    let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => invalid(),
        _ => taken(),
    });
    world.run(Memory::default()).await;
    let trial = world.asked("PATCH").into_iter().find(is_elsewhere).unwrap();
    let metadata = &trial.body["metadata"];
    assert!(trial.path.contains(metadata["name"].as_str().unwrap()), "{trial:?}");
    assert_eq!((&metadata["resourceVersion"], metadata.get("uid")), (&json!("1"), None));
    assert_eq!(trial.body["spec"], json!({"x": 2}));
}

/// A policy makes it differ for ever, and without its label it is not cached.
#[tokio::test]
async fn a_child_without_our_label_is_tied_to_its_parent_and_not_recreated() {
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
    let report = world.run(Memory::default()).await;
    assert!(world.asked("DELETE").is_empty(), "{report:?}");
    assert_eq!((report.writes.len(), world.is_cached("c")), (1, true), "{report:?}");
}

/// As after versions went back: what the cache holds of the parent may be of the lost history.
#[tokio::test]
async fn no_child_is_deleted_for_an_immutable_field_while_deletions_of_its_type_wait() {
    for (is_listed, deletions) in [(true, 1), (false, 0)] {
        let config = ChildConfig::apply().recreate_if_immutable();
        let setup = Setup::new(pods(), config).caching(child("5", 1)).desiring(desired("c"));
        let setup = if is_listed { setup } else { setup.unlisted() };
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => immutable_field(),
            "GET" if of_child(asked) => (200, child("5", 1)),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.run(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{report:?}");
    }
}

#[tokio::test]
async fn what_was_recreated_and_is_no_longer_wanted_is_forgotten() {
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
    memory.recreated.extend(["c", "new", "old"].map(|name| (id(name), 7)));
    let report = world.run(memory).await;
    let left: Vec<_> = report.memory.recreated.into_keys().collect();
    assert_eq!(left, ["c", "new"].map(id));
}
