//! Secrets are never shown: the test puts sentinels wherever a secret can be, triggers many changes, and
//! then searches every path of the endpoint, the stream of events, every Event of the namespace, every
//! metric, the log and `Debug` output for them. The paths come from the `OpenAPI` document.

use std::{
    io,
    net::SocketAddr,
    sync::{Mutex, Once, PoisonError},
};

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operetta::{
    object::{Object, ObjectKey},
    operator::SyncRequest,
    prelude::*,
};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinHandle};
use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    recipe::{RECIPE, config_map},
    started::http,
    world::{CONFIG_MAP, EVENT, Operators, POD, SECRET, World, condition, eventually},
};

/// Marked by the schema. It is not a valid label value, so a server refuses it there and quotes it.
const PASSWORD: &str = "s3ntinel-password, marked!";
/// In a marked map.
const TOKEN: &str = "s3ntinel-token";
/// In a Secret, and in its last-applied annotation.
const KEPT: &str = "s3ntinel-kept";
const APPLIED: &str = "s3ntinel-applied";
/// The common prefix, in clear text and in base64.
const SENTINELS: [&str; 2] = ["s3ntinel", "czNudGluZWwt"];

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The log lines of our crates that contain a sentinel or a redacted one.
static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// `Debug` output.
static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Log;

impl io::Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        if leaks(&text) || text.contains("(redacted)") {
            LOGGED.lock().unwrap_or_else(PoisonError::into_inner).push(text.into_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn leaks(text: &str) -> bool {
    SENTINELS.iter().any(|sentinel| text.contains(sentinel))
}

/// Captures the log of our crates at the level trace.
fn watch_logs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let crates = ["operetta", "operators", "operetta_apiserver"];
        let ours = crates.map(|name| (name, tracing::Level::TRACE));
        let ours = tracing_subscriber::filter::Targets::new().with_targets(ours);
        let lines = fmt::layer().with_writer(|| Log).with_filter(ours);
        tracing_subscriber::registry().with(lines).init();
    });
}

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
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "annotations": {LAST_APPLIED: APPLIED}},
        "stringData": {"kept": KEPT},
    });
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
    let mut all = String::new();
    for path in paths(&document, namespace) {
        for accept in ["application/json", "text/html", "application/yaml"] {
            let accept = format!("Accept: {accept}\r\n");
            let (_, answer) = http(address, &format!("GET {path}"), &accept).await;
            assert!(!leaks(&answer), "{path} {accept}: {answer}");
            all.push_str(&answer);
        }
    }
    all
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
    act(&world, &operators, "refused", "WriteFailed", "(redacted)").await;
    print_all(&operators, &world.namespace).await;
    operators.stop().await;
    let stream = stream.await.unwrap();
    assert!(stream.contains("cannot log in with (redacted)") && !leaks(&stream), "{stream}");
    let logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(logged.iter().any(|line| line.contains("cannot log in with (redacted)")));
    assert!(logged.iter().all(|line| !leaks(line)), "{logged:#?}");
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
