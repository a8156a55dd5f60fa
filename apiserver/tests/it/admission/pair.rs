//! The two servers, and the same steps on both.

use std::sync::atomic::{AtomicU32, Ordering};

use http::{Request, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use operetta_apiserver::Server;
use serde_json::{Value, json};

use super::{
    hook::{Answer, Hook},
    mask,
};
use crate::common::control_plane;

/// One of the servers.
pub(crate) struct Side {
    client: Client,
    _server: Option<Server>,
}

/// One request: method, path, media type and body.
#[derive(Debug, Clone)]
pub(crate) struct Step(
    pub(crate) &'static str,
    pub(crate) String,
    pub(crate) &'static str,
    pub(crate) Value,
);

/// What a scene is played with.
pub(crate) struct Stage {
    /// Its own namespace.
    pub(crate) namespace: String,
    pub(crate) hook: Hook,
}

/// What was seen.
#[derive(Debug)]
pub(crate) struct Seen {
    step: String,
    code: u16,
    warnings: Vec<String>,
    body: Value,
    calls: Vec<(String, Value)>,
}

/// The embedded server and the real one.
pub(crate) async fn sides() -> [Side; 2] {
    let real = control_plane::shared().await.client().unwrap();
    let server = Server::start();
    let embedded = server.client_as("test/1.0");
    [Side { client: embedded, _server: Some(server) }, Side { client: real, _server: None }]
}

/// Plays a scene on both sides: creates the objects of `setup`, waits until they have effect, and takes the
/// steps. `setup` also says which object is refused as soon as they have.
pub(crate) async fn play(
    answer: Answer,
    setup: fn(&Stage) -> Vec<(String, Value)>,
    steps: fn(&Stage) -> Vec<Step>,
) {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let mut seen = Vec::new();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    for side in sides().await {
        let stage = Stage { namespace: format!("scene{number}x"), hook: Hook::start(answer).await };
        side.prepare(&stage, setup(&stage)).await;
        let mut found = Vec::new();
        for step in steps(&stage) {
            found.push(side.take(&stage, &step).await);
        }
        seen.push(found);
    }
    let (ours, theirs) = (&seen[0], &seen[1]);
    let differ = ours.iter().zip(theirs).filter(|(ours, theirs)| ours != theirs);
    let differences: Vec<_> = differ
        .map(|(a, b)| format!("{}\n  here  {}\n  there {}\n", a.step, a.show(), b.show()))
        .collect();
    assert!(ours == theirs, "{}", differences.concat());
}

impl PartialEq for Seen {
    /// The step is the same; its certificates are not.
    fn eq(&self, other: &Self) -> bool {
        let seen = |it: &Self| (it.code, it.warnings.clone(), it.body.clone(), it.calls.clone());
        seen(self) == seen(other)
    }
}

impl Seen {
    fn show(&self) -> String {
        let Self { step: _, code, warnings, body, calls } = self;
        let calls: Vec<_> =
            calls.iter().map(|(path, call)| format!("\n        {path} {call}")).collect();
        format!("{code} {warnings:?}\n        {body}{}", calls.concat())
    }
}

impl Stage {
    /// The configuration of a webhook of this server; the rest of its fields follow.
    pub(crate) fn webhook(&self, path: &str, rest: Value) -> Value {
        let mut webhook = json!({
            "name": format!("{}.example.com", path.trim_start_matches('/').replace('/', "-")),
            "clientConfig": {
                "url": format!("https://127.0.0.1:{}{path}", self.hook.port),
                "caBundle": self.hook.bundle,
            },
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
            }],
        });
        if let (Some(webhook), Value::Object(rest)) = (webhook.as_object_mut(), rest) {
            webhook.extend(rest);
        }
        webhook
    }

    /// A configuration with these webhooks, and one that shows that it has effect.
    pub(crate) fn configuration(
        &self,
        kind: &str,
        name: &str,
        webhooks: &[Value],
    ) -> (String, Value) {
        let name = format!("{}-{name}", self.namespace);
        let mut all = vec![self.webhook(
            "/ready",
            json!({
                "objectSelector": {"matchLabels": {"ready": name}},
            }),
        )];
        all.extend_from_slice(webhooks);
        let plural = format!("{}s", kind.to_lowercase());
        let object = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            "webhooks": all,
        });
        (format!("/apis/admissionregistration.k8s.io/v1/{plural}"), object)
    }

    /// The config maps of the scene.
    pub(crate) fn config_maps(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace)
    }
}

/// The real server begins an update with what its cache has, and again where that was out of date.
fn without_stale(calls: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let what = |(path, review): &(String, Value)| {
        let request = &review["request"];
        let fields = ["operation", "resource", "subResource", "namespace", "name"];
        (path.clone(), fields.map(|field| request[field].clone()))
    };
    let is_stale = |at: usize| {
        let old = |at: usize| &calls[at].1["request"]["oldObject"];
        let later = at + 1..calls.len();
        calls[at].1["request"]["operation"] == "UPDATE"
            && later
                .into_iter()
                .any(|it| what(&calls[it]) == what(&calls[at]) && old(it) != old(at))
    };
    let kept = (0..calls.len()).filter(|at| !is_stale(*at));
    kept.map(|at| calls[at].clone()).collect()
}

impl Side {
    async fn prepare(&self, stage: &Stage, objects: Vec<(String, Value)>) {
        let namespace = json!({"metadata": {"name": stage.namespace}});
        let (code, body) = self.post("/api/v1/namespaces", &namespace).await;
        assert_eq!(code, 201, "{body}");
        for (path, object) in objects {
            let (code, body) = self.post(&path, &object).await;
            assert_eq!(code, 201, "{body}");
            let probe = json!({
                "metadata": {"name": "probe", "labels": {"ready": object["metadata"]["name"]}},
            });
            let probes = format!("{}?dryRun=All", stage.config_maps());
            let waits = object["kind"]
                .as_str()
                .is_some_and(|it| it.ends_with("WebhookConfiguration"))
                || object["metadata"]["name"].as_str().is_some_and(|it| it.ends_with("zz-ready"))
                    && path.ends_with("bindings");
            for version in object["spec"]["versions"].as_array().into_iter().flatten() {
                let (group, names) = (&object["spec"]["group"], &object["spec"]["names"]);
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let path = format!(
                    "/apis/{}/{}/{}",
                    text(group),
                    text(&version["name"]),
                    text(&names["plural"])
                );
                let served = Step("GET", path, "application/json", Value::Null);
                while self.send(&served).await.0 != 200 {
                    tokio::task::yield_now().await;
                }
            }
            while waits && self.post(&probes, &probe).await.0 == 201 {
                tokio::task::yield_now().await;
            }
        }
        stage.hook.calls();
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let step = Step("POST", path.to_owned(), "application/json", body.clone());
        let (code, _, body) = self.send(&step).await;
        (code, body)
    }

    async fn take(&self, stage: &Stage, step: &Step) -> Seen {
        let (code, warnings, body) = self.send(step).await;
        // Objects are converted for a cache too.
        let mut calls = stage.hook.calls();
        calls.retain(|(path, _)| !path.starts_with("/convert"));
        let calls = without_stale(calls);
        let mut calls: Vec<_> =
            calls.iter().map(|(path, review)| (path.clone(), mask::call(review))).collect();
        if step.3["sorted"] == true {
            calls.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Seen {
            step: format!("{} {} {}", step.0, step.1, step.3),
            code,
            warnings: warnings.iter().map(|it| mask::text(it)).collect(),
            body: mask::answer(&body),
            calls,
        }
    }

    async fn send(&self, Step(method, path, media, body): &Step) -> (u16, Vec<String>, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder()
            .method(*method)
            .uri(path)
            .header(header::CONTENT_TYPE, *media)
            .header(header::USER_AGENT, "test/1.0")
            .body(Body::from(body))
            .unwrap();
        let (parts, body) = self.client.send(request).await.unwrap().into_parts();
        let warnings = parts.headers.get_all(header::WARNING).iter();
        let warnings = warnings.map(|it| it.to_str().unwrap().to_owned()).collect();
        let bytes = body.collect().await.unwrap().to_bytes();
        let documents = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
        let mut documents: Vec<_> = documents.map_while(Result::ok).collect();
        let body = if documents.len() == 1 { documents.remove(0) } else { Value::Array(documents) };
        (parts.status.as_u16(), warnings, body)
    }
}
