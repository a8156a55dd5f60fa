//! What a typed handler costs beside a dynamic one, which is its floor: both read the parent and three small
//! children, and return three children and a status. No server takes part.

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            ConfigMap, Container, PodSpec, PodTemplateSpec, Service, ServicePort, ServiceSpec,
        },
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::CustomResource;
use operetta::{
    object::K8sType,
    operator::{SyncRequest, SyncResponse},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    settings::Settings,
    table::{Row, percentile},
};

/// How many reconciles are timed together: one is too short for the clock.
const TOGETHER: u32 = 100;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "bench.operetta.dev", version = "v1", kind = "Typed", namespaced)]
struct TypedSpec {
    mark: String,
}

#[derive(Serialize)]
struct TypedStatus {
    ready: i32,
}

pub(crate) fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let request = request()?;
    let (mut typed, mut dynamics) = (Vec::new(), Vec::new());
    for _ in 0..settings.samples() {
        dynamics.push(timed(&request, |request| dynamic(&request))?);
        typed.push(timed(&request, |request| {
            let response = typed_sync(&request.typed()?)?;
            // What the framework does with the response of a typed handler.
            let status = serde_json::to_value(&response.status)?;
            Ok(response.with_status(status))
        })?);
    }
    let (typed, dynamic) = (percentile(&typed, 50), percentile(&dynamics, 50));
    let micros = |time: Duration| format!("{:.2} µs", time.as_secs_f64() * 1e6);
    let more = (typed.as_secs_f64() - dynamic.as_secs_f64()) * 1e6;
    let figure = "typed handler beside a dynamic one, three children, p50";
    Ok(vec![
        Row::new(figure, micros(typed))
            .floor(micros(dynamic))
            .ratio(format!("{more:+.2} µs"))
            .target("at most +15 µs"),
    ])
}

fn timed(
    request: &SyncRequest,
    sync: impl Fn(SyncRequest) -> Result<SyncResponse>,
) -> Result<Duration> {
    let started = Instant::now();
    for _ in 0..TOGETHER {
        black_box(sync(black_box(request.clone()))?);
    }
    Ok(started.elapsed() / TOGETHER)
}

fn request() -> Result<SyncRequest> {
    let ty = K8sType::of::<Typed>();
    let parent = json!({"metadata": {"name": "a"}, "spec": {"mark": "first"}});
    let request = SyncRequest::example(&ty, parent)?;
    let [config_map, service, mut deployment] = children("a", "first");
    deployment["status"] = json!({"replicas": 1, "readyReplicas": 1});
    Ok(request
        .with_child::<ConfigMap>(config_map)?
        .with_child::<Service>(service)?
        .with_child::<Deployment>(deployment)?)
}

fn dynamic(request: &SyncRequest) -> Result<SyncResponse> {
    let (name, spec) = (request.parent.name(), request.parent.field("spec"));
    let spec = spec.context("a parent has a spec")?;
    let child = |kind: &str, version: &str| request.children.of_type((version, kind)).first();
    let ready = child("Deployment", "apps/v1").and_then(|it| it.field("status"));
    let ready = ready.unwrap_or_default()["readyReplicas"].as_i64().unwrap_or_default();
    let mark = child("ConfigMap", "v1").and_then(|it| it.field("data")).unwrap_or_default();
    let ports = child("Service", "v1").and_then(|it| it.field("spec")).unwrap_or_default();
    black_box((mark, ports));
    let children = children(name, spec["mark"].as_str().unwrap_or_default());
    Ok(SyncResponse::status(json!({"ready": ready})).children(children))
}

fn children(name: &str, mark: &str) -> [Value; 3] {
    let labels = json!({"app": name});
    [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"mark": mark}}),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": labels, "ports": [{"name": "http", "port": 80}]},
        }),
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {
                "replicas": 1, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [
                    {"name": "main", "image": "example.com/app:1"},
                ]}},
            },
        }),
    ]
}

fn typed_sync(request: &SyncRequest<Typed>) -> Result<SyncResponse<TypedStatus>> {
    let name = request.object().name();
    let deployment = request.child::<Deployment>(name)?;
    black_box((request.child::<ConfigMap>(name)?, request.child::<Service>(name)?));
    let status = deployment.and_then(|deployment| deployment.status.as_ref());
    let ready = status.and_then(|status| status.ready_replicas).unwrap_or_default();
    Ok(SyncResponse::status(TypedStatus { ready })
        .child(config_map(name, &request.parent.spec.mark))
        .child(service(name))
        .child(self::deployment(name)))
}

fn metadata(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn labels(name: &str) -> BTreeMap<String, String> {
    [("app".to_owned(), name.to_owned())].into()
}

fn config_map(name: &str, mark: &str) -> ConfigMap {
    let data = Some([("mark".to_owned(), mark.to_owned())].into());
    ConfigMap { metadata: metadata(name), data, ..ConfigMap::default() }
}

fn service(name: &str) -> Service {
    let port = ServicePort { name: Some("http".to_owned()), port: 80, ..ServicePort::default() };
    let (selector, ports) = (Some(labels(name)), Some(vec![port]));
    let spec = Some(ServiceSpec { selector, ports, ..ServiceSpec::default() });
    Service { metadata: metadata(name), spec, ..Service::default() }
}

fn deployment(name: &str) -> Deployment {
    let image = Some("example.com/app:1".to_owned());
    let container = Container { name: "main".to_owned(), image, ..Container::default() };
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels(name)), ..ObjectMeta::default() }),
        spec: Some(PodSpec { containers: vec![container], ..PodSpec::default() }),
    };
    let selector = LabelSelector { match_labels: Some(labels(name)), ..LabelSelector::default() };
    let spec =
        DeploymentSpec { replicas: Some(1), selector, template, ..DeploymentSpec::default() };
    Deployment { metadata: metadata(name), spec, ..Deployment::default() }
}
