//! Secrets are never shown: the test puts sentinels wherever a secret can be, triggers many changes, and
//! then searches every path of the endpoint, the stream of events, every Event of the namespace, every
//! metric, the log and `Debug` output for them. The paths come from the `OpenAPI` document.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::Error;
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::{Client, client::Body};
use operetta::{
    object::{Object, ObjectKey},
    operator::SyncRequest,
    prelude::*,
};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinHandle};

use crate::{
    cluster::Connector,
    logged::{leaked, leaks, logged, watch_logs},
    recipe::{RECIPE, config_map, crd_with_secrets},
    started::http,
    world::{CONFIG_MAP, EVENT, Operators, POD, SECRET, World, condition, eventually},
};

/// Marked by the schema. It is not a valid label value, so a server refuses it there and quotes it.
const PASSWORD: &str = "s3ntinel-password, marked!";
/// In a marked map.
const TOKEN: &str = "s3ntinel-token";
/// In a Secret and one of its labels, and in its annotations.
const KEPT: &str = "s3ntinel-kept";
const APPLIED: &str = "s3ntinel-applied";
/// In a Secret that the server refuses. It is not a valid label value either.
const REFUSED: &str = "s3ntinel-refused, never stored!";
/// How many requests are sent at once.
const AT_ONCE: usize = 16;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const ORIGINAL: &str = "kapp.k14s.io/original";

/// `Debug` output.
static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn printed(value: &impl std::fmt::Debug) {
    let text = format!("{value:?} {value:#?}");
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// A type that no Secret fits.
#[derive(serde::Deserialize)]
struct Numbers {
    #[expect(dead_code, reason = "is only parsed")]
    data: std::collections::BTreeMap<String, u8>,
}

/// Returns a Secret, and a Pod and a `ConfigMap` with copies of the marked values of the parent.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let password = spec["password"].as_str().unwrap_or_default();
    match spec["act"].as_str() {
        Some("fail") => return Err(Error::msg(format!("cannot log in with {password}"))),
        Some("panic") => panic!("nobody can log in with {password}"),
        Some("misfit") => {
            let secrets = request.children::<Secret>().raw();
            secrets.first().map(Object::parse_as::<Numbers>).transpose()?;
        }
        _ => {}
    }
    let name = request.parent.name();
    let annotations = json!({LAST_APPLIED: APPLIED, ORIGINAL: format!("data: {APPLIED}")});
    let mut secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "annotations": annotations, "labels": {"copy": KEPT}},
        "stringData": {"kept": KEPT},
    });
    if spec["act"] == "creation" {
        secret["metadata"]["name"] = json!("fresh");
    }
    if spec["act"] == "creation" || spec["act"] == "rotation" {
        secret["stringData"]["kept"] = json!(REFUSED);
        secret["metadata"]["labels"]["copy"] = json!(REFUSED);
    }
    let env = json!([
        {"name": "PASSWORD", "value": password},
        {"name": "TOKEN", "value": spec["tokens"]["first"]},
    ]);
    let container =
        json!({"name": "c", "image": "c", "env": env, "args": [format!("--password={password}")]});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": {"example.dev/password": password}},
        "spec": {"containers": [container]},
    });
    let settings = format!("level: {}\npassword: {password}\n", spec["level"]);
    let mut file = config_map(name, json!({"settings": settings}));
    if spec["act"] == "refused" {
        file["metadata"]["labels"] = json!({"password": password});
    }
    let response = SyncResponse::status(json!({"taste": format!("with {password}")}));
    let not_owned = config_map("not-owned", json!({"a": "b"}));
    let response = response.child(secret).child(pod).child(file).child(not_owned);
    printed(&(request, &request.children, &response));
    printed(&request.parent_as::<u8>());
    Ok(response)
}

fn config() -> OperatorConfig {
    OperatorConfig::new("keeper", K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2))
        .child::<Secret>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::recreate())
        .child::<ConfigMap>(ChildConfig::apply())
        .with_error_backoff(
            std::time::Duration::from_millis(100),
            std::time::Duration::from_mins(1),
        )
        .with_normal_events()
        .with_child_status()
}

/// The stream of events, until the operators stop.
async fn listen(address: SocketAddr) -> JoinHandle<String> {
    use tokio::io::AsyncReadExt;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /api/v1/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::spawn(async move {
        let mut text = Vec::new();
        // The stream ends with the endpoint.
        let _ = stream.read_to_end(&mut text).await;
        String::from_utf8(text).unwrap()
    })
}

/// Every path of the document, with all objects and each of its query parameters.
fn paths(document: &Value, namespace: &str) -> Vec<String> {
    let types = ["recipes.test.operetta.dev", "secrets", "pods", "configmaps"];
    let fill = |path: &str, ty: &str| {
        let names = [
            ("{operator}", "keeper"),
            ("{type}", ty),
            ("{namespace}", namespace),
            ("{name}", "r"),
            ("{file}", "page.js"),
        ];
        names.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
    };
    let mut paths = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let Some(get) = methods.get("get") else { continue };
        for ty in types {
            let path = fill(path, ty);
            for parameter in get["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                let values = parameter["schema"]["enum"].as_array().cloned().unwrap_or_default();
                let values = values.iter().filter_map(Value::as_str).chain([""]);
                if parameter["in"] == "query" {
                    paths.extend(values.map(|value| format!("{path}?{name}={value}")));
                }
            }
            paths.push(path);
        }
    }
    // The endless stream is read separately.
    paths.retain(|path| !path.starts_with("/api/v1/events"));
    paths.sort();
    paths.dedup();
    paths
}

/// Searches every answer in every form. Returns all answers.
async fn search(operators: &Operators, namespace: &str) -> String {
    let (_, document) = operators.http("/api/v1/openapi.json").await;
    let document: Value = serde_json::from_str(&document).unwrap();
    let address = operators.running().web().unwrap();
    let accepted = ["application/json", "text/html", "application/yaml"];
    let asked = paths(&document, namespace).into_iter();
    let asked = asked.flat_map(|path| accepted.map(|accept| (path.clone(), accept)));
    let answers = stream::iter(asked).map(|(path, accept)| async move {
        let headers = format!("Accept: {accept}\r\n");
        let (_, answer) = http(address, &format!("GET {path}"), &headers).await;
        assert!(!leaks(&answer), "{path} {accept}: {answer}");
        answer
    });
    answers.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await.join("\n")
}

/// Waits for an Event whose note contains a text, and searches all Events.
async fn emitted(world: &World, reason: &str, part: &str) {
    let is_emitted = |events: &Vec<Value>| {
        let mut of_reason = events.iter().filter(|event| event["reason"] == reason);
        of_reason.any(|event| event["note"].as_str().is_some_and(|note| note.contains(part)))
    };
    let events = eventually(part, || world.list(EVENT), is_emitted).await;
    assert!(events.iter().all(|event| !leaks(&event.to_string())), "{events:#?}");
}

/// Triggers a failure, waits for its Event and condition, and searches everything.
async fn act(world: &World, operators: &Operators, act: &str, reason: &str, part: &str) {
    world.patch(RECIPE, "r", json!({"spec": {"act": act}})).await;
    emitted(world, reason, part).await;
    let is_reported = |parent: &Value| condition(parent, "Ready")["reason"] == reason;
    let parent = world.until(RECIPE, "r", part, is_reported).await;
    let status = [&parent["status"]["conditions"], &parent["status"]["children"]];
    assert!(status.iter().all(|it| !leaks(&it.to_string())), "{:#}", parent["status"]);
    let answers = search(operators, &world.namespace).await;
    assert!(answers.contains(part), "{act}: no answer contains `{part}`");
}

/// Prints public values with `Debug`.
async fn print_all(operators: &Operators, namespace: &str) {
    let (running, key) = (operators.running(), ObjectKey::namespaced(namespace, "r"));
    let (board, stores) = (running.board(), running.stores());
    printed(&(running, &stores, running.metrics(), board.operators(), board.types()));
    printed(&board.parent("keeper", &key));
    let preview = board.preview("keeper", key.clone()).await;
    printed(&(&preview, preview.as_ref().map(|it| (&it.plan, &it.live)).ok()));
    for ty in [(RECIPE.0, RECIPE.1), ("v1", "Secret"), ("v1", "Pod")] {
        printed(&stores.list_objects(ty).unwrap());
    }
    printed(&stores.get::<ConfigMap>((namespace, "nobody")));
}

#[operetta_harness::test]
async fn no_secret_is_in_answers_events_metrics_logs_or_debug_output() {
    let world = World::new().await;
    watch_logs();
    world.install_recipes_with_secrets().await;
    world.create(CONFIG_MAP, config_map("not-owned", json!({"theirs": "yes"}))).await;
    let operators = world.start(|builder| builder.register(config(), sync)).await;
    let stream = listen(operators.running().web().unwrap()).await;
    let parent = json!({
        "metadata": {"name": "r", "annotations": {LAST_APPLIED: APPLIED}},
        "spec": {"password": PASSWORD, "tokens": {"first": TOKEN}, "level": 1},
    });
    world.create(RECIPE, parent).await;
    let has_copies = |pod: &Value| {
        let container = &pod["spec"]["containers"][0];
        container["env"][0]["value"] == PASSWORD && container["env"][1]["value"] == TOKEN
    };
    world.until(POD, "r", "the Pod with copies", has_copies).await;
    world.until(SECRET, "r", "the Secret", Value::is_object).await;
    emitted(&world, "Conflict", "not-owned").await;
    // Drift is repaired, and the repair is reported.
    world.patch(CONFIG_MAP, "r", json!({"data": {"settings": "mine"}})).await;
    let is_repaired = |file: &Value| file["data"]["settings"].to_string().contains(PASSWORD);
    world.until(CONFIG_MAP, "r", "the repair", is_repaired).await;
    emitted(&world, "Updated", "ConfigMap").await;
    // The preview is shown.
    let (code, _) = operators.post("/api/v1/operators/keeper/pause").await;
    assert_eq!(code, 200);
    world.patch(RECIPE, "r", json!({"spec": {"level": 2}})).await;
    let diff = format!("/api/v1/operators/keeper/parents/{}/r?diff=1", world.namespace);
    let differs = |(_, text): &(u16, String)| text.contains(r"level: 2\npassword: (redacted)");
    eventually("the diff", || operators.http(&diff), differs).await;
    let answers = search(&operators, &world.namespace).await;
    assert!(answers.contains("--password=(redacted)"), "the Pod is shown");
    print_all(&operators, &world.namespace).await;
    operators.post("/api/v1/operators/keeper/resume").await;
    act(&world, &operators, "fail", "HandlerFailed", "cannot log in with (redacted)").await;
    act(&world, &operators, "panic", "HandlerPanicked", "nobody can log in with (redacted)").await;
    let misfit = "`data.kept`: string, where u8 is expected";
    act(&world, &operators, "misfit", "HandlerFailed", misfit).await;
    for refused in ["refused", "creation", "rotation"] {
        act(&world, &operators, refused, "WriteFailed", "(redacted)").await;
    }
    print_all(&operators, &world.namespace).await;
    operators.stop().await;
    let stream = stream.await.unwrap();
    assert!(stream.contains("cannot log in with (redacted)") && !leaks(&stream), "{stream}");
    assert!(!logged("cannot log in with (redacted)").is_empty());
    assert_eq!(leaked(), [""; 0]);
    let printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(printed.len() > 5 && printed.iter().all(|text| !leaks(text)), "{printed:#?}");
}

#[operetta_harness::test(server)]
async fn fields_that_are_marked_later_are_redacted_after_the_schema_is_read_again() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(config(), sync)).await;
    let parent = json!({"metadata": {"name": "r"}, "spec": {"password": PASSWORD}});
    world.create(RECIPE, parent).await;
    let path = format!("/api/v1/cache/recipes.test.operetta.dev/{}/r", world.namespace);
    let shows = |text: &'static str| {
        eventually(text, || operators.http(&path), move |(_, shown)| shown.contains(text))
    };
    shows(PASSWORD).await;
    // The server ends the watch, and the schema is read again.
    world.install_recipes_with_secrets().await;
    shows(r#""password":"(redacted)""#).await;
    operators.stop().await;
}

/// A connection to the same server, which publishes this document of the type as soon as there is one.
fn publishing(
    world: &World,
    document: Arc<Mutex<Option<String>>>,
) -> (Connector, Arc<AtomicUsize>) {
    let (client, read) = (world.client.clone(), Arc::new(AtomicUsize::new(0)));
    let count = read.clone();
    let serve = move |request: http::Request<Body>| {
        let is_it = request.uri().path() == format!("/openapi/v3/apis/{}", RECIPE.0);
        let text = document.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (client, count) = (client.clone(), count.clone());
        async move {
            let Some(text) = text.filter(|_| is_it) else { return client.send(request).await };
            count.fetch_add(1, Ordering::Relaxed);
            Ok(http::Response::new(Body::from(text.into_bytes())))
        }
    };
    let client = Client::new(tower::service_fn(serve), "default");
    (Box::new(move || async move { Ok(client.into()) }.boxed()), read)
}

/// As of a type whose schema it cannot read itself.
fn without_fields(document: &str) -> String {
    let mut document: Value = serde_json::from_str(document).unwrap();
    for schema in document["components"]["schemas"].as_object_mut().unwrap().values_mut() {
        schema.as_object_mut().unwrap().remove("properties");
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    document.to_string()
}

#[operetta_harness::test]
async fn secret_fields_stay_known_while_the_server_publishes_a_schema_without_fields() {
    let world = World::new().await;
    world.install_recipes_with_secrets().await;
    let document = Arc::new(Mutex::new(None));
    let (connector, read) = publishing(&world, document.clone());
    let operators = world.start_over(connector, |builder| builder.register(config(), sync)).await;
    let parent = json!({"metadata": {"name": "r"}, "spec": {"password": PASSWORD, "level": 1}});
    world.create(RECIPE, parent).await;
    // The schema that marks the field was read: no status is written without.
    world.until_synced(RECIPE, "r").await;
    let path = format!("/api/v1/cache/recipes.test.operetta.dev/{}/r", world.namespace);
    let is_shown = |(_, shown): &(u16, String)| shown.contains(r#""password":"(redacted)""#);
    eventually("the marked parent", || operators.http(&path), is_shown).await;
    let request = http::Request::get(format!("/openapi/v3/apis/{}", RECIPE.0));
    let published = world.client.request_text(request.body(Vec::new()).unwrap()).await.unwrap();
    *document.lock().unwrap() = Some(without_fields(&published));
    // The server ends the watch, and the schema is read again.
    let mut definition = serde_json::to_value(crd_with_secrets()).unwrap();
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    definition.pointer_mut(spec).unwrap()["description"] = json!("another one");
    let definition = serde_json::from_value(definition).unwrap();
    operetta::supervisor::install_crds(&world.client, &[definition]).await.unwrap();
    let reads = || std::future::ready(read.load(Ordering::Relaxed));
    eventually("a read of the other schema", reads, |reads| *reads > 0).await;
    act(&world, &operators, "fail", "HandlerFailed", "cannot log in with (redacted)").await;
    let (_, shown) = operators.http(&path).await;
    assert!(is_shown(&(200, shown.clone())) && !leaks(&shown), "{shown}");
    operators.stop().await;
}
