//! Secrets of a parent or a child in texts of handlers and servers are redacted everywhere.

use super::*;

const SECRET: &str = "s3cret-value";

/// A parent with a secret.
fn secretive() -> Value {
    let mut parent = parent("3");
    parent["spec"] = json!({"password": SECRET});
    parent
}

/// The schema that marks the secret field.
fn marked() -> Reply {
    let mut published = openapi();
    let password = json!({"type": "string", "format": "password"});
    published["components"]["schemas"]["App"]["properties"]["spec"] =
        json!({"type": "object", "properties": {"password": password}});
    (200, published)
}

/// The contents of all statuses and Events.
fn shown(world: &scripted::World) -> String {
    let requests = world.asked("PATCH").into_iter().chain(world.asked("POST"));
    requests.map(|asked| asked.body.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_finalize_shows_no_secret() {
    let setup = Setup::new(pods(), ChildConfig::apply()).of(secretive()).publishing(marked());
    let setup = setup.refusing_to_finalize("cannot log in with s3cret-value");
    let world = setup.ending(&["operetta.dev/op"]).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    let shown = shown(&world);
    assert!(shown.contains("cannot log in with (redacted)") && !shown.contains(SECRET), "{shown}");
    assert!(!format!("{:?}", report.failure()).contains(SECRET));
}

/// A Secret is always secret, without a schema.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_error_shows_nothing_of_a_child_secret() {
    let mut held = child("5", 1);
    held["data"] = json!({"password": "czNjcmV0LXZhbHVl", "key": "//79"});
    let setup = Setup::new(secrets(), ChildConfig::apply()).caching(held);
    let setup = setup.refusing_to_finalize("neither s3cret-value nor czNjcmV0LXZhbHVl nor //79");
    let world = setup.ending(&["operetta.dev/op"]).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    });
    world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    let shown = shown(&world);
    assert!(shown.contains("neither (redacted) nor (redacted) nor (redacted)"), "{shown}");
    assert!([SECRET, "czNjcmV0", "//79"].iter().all(|secret| !shown.contains(secret)), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_status_shows_no_secret() {
    let setup = Setup::new(pods(), ChildConfig::apply()).of(secretive()).publishing(marked());
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" if asked.body.to_string().contains("WriteFailed") => with_status(&asked.body),
        "PATCH" => {
            let message = format!("spec.password: Invalid value: \"{SECRET}\"");
            (422, json!({"kind": "Status", "code": 422, "reason": "Invalid", "message": message}))
        }
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    assert!(report.wrote_status, "the conditions alone are accepted");
    let shown = shown(&world);
    assert!(shown.contains("Invalid value: ") && !shown.contains(SECRET), "{shown}");
}

/// The secret fields are unknown then.
#[tokio::test(flavor = "multi_thread")]
async fn no_text_of_others_is_shown_while_the_schema_is_unknown() {
    let unpublished = json!({"paths": {}, "components": {"schemas": {}}});
    for (published, is_announced) in [((500, json!({})), true), ((200, unpublished), false)] {
        let setup = Setup::new(pods(), ChildConfig::apply()).of(secretive()).publishing(published);
        let setup = setup.caching(child("5", 1)).desiring(desired("c"));
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" => {
                let message = format!("cannot set s3cret-value to {SECRET}");
                (422, json!({"kind": "Status", "code": 422, "message": message}))
            }
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        if is_announced {
            world.until_asked("POST", "/events").await;
        }
        let failure = report.failure().unwrap();
        let shown = format!("{} {failure} {failure:?} {:?}", shown(&world), report.decisions);
        assert!(!shown.contains("Invalid value") && !shown.contains("cannot set"), "{shown}");
    }
}

/// The parent changes during the deletions, so that no status is written.
#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_finalization_shows_no_secret() {
    let items = ["a", "b"].map(|name| uncollectable_child(json!(name)));
    let list = json!({"metadata": {"resourceVersion": "9"}, "items": items});
    let changes = AtomicUsize::new(3);
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "GET" if asked.is_about("/secrets?") => (200, list.clone()),
        "GET" if asked.is_about("/secrets/a") => (200, items[0].clone()),
        "GET" => (200, parent(&changes.fetch_add(1, Ordering::AcqRel).to_string())),
        "DELETE" => {
            let message = format!("cannot give up {SECRET}");
            (422, json!({"kind": "Status", "code": 422, "reason": "Invalid", "message": message}))
        }
        _ => taken(),
    };
    let setup = Setup::new(secrets(), ChildConfig::apply().delete_with_finalizer());
    let setup = setup.of(secretive()).publishing(marked()).ending(&["operetta.dev/op"]);
    let world = setup.before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.end, End::Outdated);
    let failure = report.failure().unwrap().to_string();
    assert!(failure.contains("cannot give up (redacted)"), "{failure}");
}
