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

/// A Secret as the handler returns it.
fn returned(fields: &Value) -> Value {
    let mut secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c", "namespace": "ns"}});
    for (name, field) in fields.as_object().unwrap() {
        secret[name] = field.clone();
    }
    secret
}

/// Its values are in no cache.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_refused_on_creation_or_rotation_shows_nothing_of_it() {
    let mut held = child("5", 1);
    held["data"] = json!({"password": "b2xkLXMzY3JldA=="});
    for (fields, cached) in [
        (json!({"stringData": {"password": SECRET}}), None),
        (json!({"data": {"password": "czNjcmV0LXZhbHVl"}}), None),
        (json!({"stringData": {"password": SECRET}}), Some(held.clone())),
        (json!({"data": {"password": "czNjcmV0LXZhbHVl"}}), Some(held)),
    ] {
        let setup = Setup::new(secrets(), ChildConfig::apply()).desiring(returned(&fields));
        let setup = cached.clone().into_iter().fold(setup, Setup::caching);
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => {
                let message = format!(
                    "denied: {SECRET}, czNjcmV0LXZhbHVl, ?p=s3cret%2Dvalue and not old-s3cret"
                );
                (
                    422,
                    json!({"kind": "Status", "code": 422, "reason": "Invalid", "message": message}),
                )
            }
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        world.until_asked("POST", "/events").await;
        let failure = report.failure().unwrap();
        let statuses: Vec<_> =
            world.asked("PATCH").into_iter().filter(|asked| asked.is_about("/status")).collect();
        let events = world.asked("POST").into_iter();
        let shown: String = events.chain(statuses).map(|asked| asked.body.to_string()).collect();
        let shown = format!("{shown} {failure} {failure:?} {:?}", report.decisions);
        assert!(shown.contains("denied: (redacted), (redacted), (redacted) and not"), "{shown}");
        assert!(!shown.contains(SECRET) && !shown.contains("czNjcmV0"), "{shown}");
        assert!(cached.is_none() || !shown.contains("old-s3cret"), "{shown}");
    }
}

/// The child still has the value that the parent had before.
#[tokio::test(flavor = "multi_thread")]
async fn a_marked_value_that_was_replaced_is_hidden_until_the_children_follow() {
    let setup = Setup::new(pods(), ChildConfig::apply()).of(secretive()).publishing(marked());
    let mut now = parent("10");
    now["spec"] = json!({"password": "other-value"});
    let live = now.clone();
    let world = setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
        "GET" => (200, live.clone()),
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => {
            let message = format!("pod updates may not change fields: - {SECRET} + other-value");
            (422, json!({"kind": "Status", "code": 422, "reason": "Invalid", "message": message}))
        }
        _ => taken(),
    });
    let memory = world.reconcile(Memory::default()).await.memory;
    world.changed_parent(&now);
    let report = world.reconcile(memory).await;
    let failure = report.failure().unwrap().to_string();
    assert!(failure.contains("change fields: - (redacted) + (redacted)"), "{failure}");
}

/// The schema of the child is read when a text of others is to be shown.
#[tokio::test(flavor = "multi_thread")]
async fn the_marked_fields_of_a_custom_child_are_hidden_and_everything_while_they_are_unknown() {
    let part = json!({"apiVersion": "example.com/v1", "kind": "Part",
        "metadata": {"name": "c", "namespace": "ns"}, "spec": {"key": SECRET}});
    let with_schema = |properties: Value| {
        let (code, mut published) = marked();
        let kinds = json!([{"group": "example.com", "version": "v1", "kind": "Part"}]);
        published["components"]["schemas"]["Part"] =
            json!({"x-kubernetes-group-version-kind": kinds, "properties": properties});
        (code, published)
    };
    let key = json!({"spec": {"properties": {"key": {"format": "password"}}}});
    for (published, shown) in [
        (with_schema(key), "denied: (redacted)"),
        (with_schema(json!({})), "(withheld"),
        (marked(), "(withheld"),
    ] {
        let ty = K8sType::namespaced("example.com/v1", "Part", "parts");
        let setup = Setup::new(ty, ChildConfig::apply()).publishing(published);
        let world = setup.desiring(part.clone()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => {
                let message = format!("denied: {SECRET}");
                (
                    422,
                    json!({"kind": "Status", "code": 422, "reason": "Invalid", "message": message}),
                )
            }
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        let failure = report.failure().unwrap().to_string();
        assert!(failure.contains(shown) && !failure.contains(SECRET), "{failure}");
        let statuses = world.asked("PATCH").into_iter().map(|asked| asked.body.to_string());
        let of_statuses: String = statuses.filter(|body| body.contains("conditions")).collect();
        assert!(of_statuses.contains(shown) && !of_statuses.contains(SECRET), "{of_statuses}");
    }
}
