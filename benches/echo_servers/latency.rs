//! From a parent's change to its child's, one at a time, when nothing else is going on.
//!
//! The time begins when the writer of the parent has the server's answer, and ends when a watch
//! of Services shows the change. Its floor is a bare client that applies the same Service: from
//! its request to what the same watch shows.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use http::Method;
use k8s_openapi::api::core::v1::Service;
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, WatchEvent, WatchParams},
};
use operetta::{board::ParentPhase, object::ObjectKey};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::{
    Settings,
    cluster::Cluster,
    floor::{self, Template},
    operators::Operators,
    parents::{self, Created, ECHO, FLOOR, NAMESPACE},
    table::{Row, percentile},
};

const PARENT: &str = "latency";
const FLOORS: &str = "latency-floor";
/// The label that follows the parent's spec.
const LABEL: &str = "app.kubernetes.io/name";
/// Between two samples, so that the last one's echoes are over.
const PAUSE: Duration = Duration::from_millis(20);
const DEADLINE: Duration = Duration::from_secs(30);

/// A Service as the watch showed it.
struct Seen {
    at: Instant,
    name: String,
    label: Option<String>,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let cluster = Cluster::start(settings.cluster).await?;
    let client = cluster.client().await?;
    parents::install(&client).await?;
    let operators = Operators::start(cluster.connector()).await?;
    parents::create(&client, ECHO, PARENT.to_owned()).await?;
    operators.until_synced(1).await?;
    let template = Template::from_sample(&client, PARENT).await?;
    let floors = parents::create(&client, FLOOR, FLOORS.to_owned()).await?;
    let mut seen = watch(&cluster.client().await?).await?;
    let (mut took, mut least) = (Vec::new(), Vec::new());
    // The first of each opens connections and is not counted.
    for number in 0..=settings.samples {
        let label = format!("s{number}");
        took.push(operators_sample(&client, &operators, &mut seen, &label).await?);
        least.push(floors_sample(&client, &template, &floors, &mut seen, &label).await?);
        tokio::time::sleep(PAUSE).await;
    }
    operators.stop().await?;
    Ok(rows(&took[1..], &least[1..]))
}

fn rows(took: &[Duration], least: &[Duration]) -> Vec<Row> {
    let row = |percent| {
        let figure = format!("parent written to child written, idle, p{percent} of {}", took.len());
        Row::times(figure, percentile(took, percent), percentile(least, percent))
    };
    vec![row(50).target("at most 5 ms (embedded)"), row(99)]
}

async fn operators_sample(
    client: &Client,
    operators: &Operators,
    seen: &mut UnboundedReceiver<Seen>,
    label: &str,
) -> Result<Duration> {
    let path = format!("{}/{PARENT}", ECHO.collection());
    let body = json!({"spec": {"serviceName": label}}).to_string();
    let content_type = "application/merge-patch+json";
    let request = parents::request(Method::PATCH, &path, "user", content_type, body)?;
    client.request_text(request).await?;
    let answered = Instant::now();
    let at = until_seen(seen, PARENT, label).await?;
    until_idle(client, operators).await?;
    Ok(at.saturating_duration_since(answered))
}

async fn floors_sample(
    client: &Client,
    template: &Template,
    parent: &Created,
    seen: &mut UnboundedReceiver<Seen>,
    label: &str,
) -> Result<Duration> {
    let (path, body) = template.service(parent)?;
    let mut body: Value =
        serde_json::from_str(&body.replace("\"hello\"", &format!("\"{label}\"")))?;
    // What the operator creates with version 1, it updates without.
    body["metadata"].as_object_mut().map(|fields| fields.remove("resourceVersion"));
    let started = Instant::now();
    floor::apply(client, &path, body.to_string()).await?;
    let at = until_seen(seen, FLOORS, label).await?;
    Ok(at.saturating_duration_since(started))
}

async fn until_seen(
    seen: &mut UnboundedReceiver<Seen>,
    name: &str,
    label: &str,
) -> Result<Instant> {
    let looking = async {
        loop {
            let service = seen.recv().await.context("the watch of Services ended")?;
            if service.name == name && service.label.as_deref() == Some(label) {
                return anyhow::Ok(service.at);
            }
        }
    };
    let found = tokio::time::timeout(DEADLINE, looking).await;
    found.with_context(|| format!("{name} never became {label}"))?
}

/// The Pod is replaced and the status written, too.
async fn until_idle(client: &Client, operators: &Operators) -> Result<()> {
    let key = ObjectKey::namespaced(NAMESPACE, PARENT);
    let idle = async {
        loop {
            let parent = operators.board().parent("echo-server", &key);
            let rests = parent.is_some_and(|parent| parent.phase == ParentPhase::Synced);
            if rests
                && parents::list(client, &ECHO.collection()).await?.iter().all(parents::is_ready)
            {
                return anyhow::Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, idle).await.context("the parent never came to rest")?
}

/// Everything that happens to Services from now on.
async fn watch(client: &Client) -> Result<UnboundedReceiver<Seen>> {
    let services: Api<Service> = Api::namespaced(client.clone(), NAMESPACE);
    let list = services.list(&ListParams::default()).await?;
    let version = list.metadata.resource_version.unwrap_or_default();
    let mut events = services.watch(&WatchParams::default(), &version).await?.boxed();
    let (found, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok(Some(event)) = events.try_next().await {
            let (WatchEvent::Added(service) | WatchEvent::Modified(service)) = event else {
                continue;
            };
            let at = Instant::now();
            let (name, label) = (service.name_any(), service.labels().get(LABEL).cloned());
            if found.send(Seen { at, name, label }).is_err() {
                return;
            }
        }
    });
    Ok(seen)
}
