//! The floor: the requests that the operator makes, issued straight through a kube client.
//!
//! Their bodies are the operator's own: the plan for a parent without children, and the status of
//! a parent that is done, with name, uid and version as blanks to fill in. They go to a parent
//! type of the floor's own, so that the operator does not answer for it.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use ::operators::echo_server;
use anyhow::{Context, Result, ensure};
use http::Method;
use kube::Client;
use operetta::{
    object::{KeptManagers, Object},
    operator::{Children, SyncRequest},
    plan::{Memos, PlanInput, Step, plan},
};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};

use crate::parents::{self, CONCURRENCY, Created, FLOOR, NAMESPACE, ParentType};

/// How the floor's requests are told from others, and who owns the fields that it writes.
pub(crate) const USER_AGENT: &str = "floor";
const NAME: &str = "blank-name";
const UID: &str = "blank-uid";
const VERSION: &str = "blank-version";

/// Bodies with blanks.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// Path and body of each child's creation.
    children: Vec<(String, String)>,
    status: String,
}

impl Template {
    /// The requests for a parent, from what the operator plans and what it wrote in the status of
    /// `sample`.
    pub(crate) async fn from_sample(client: &Client, sample: &str) -> Result<Self> {
        let all = parents::list(client, &parents::ECHO.collection()).await?;
        let sample_parent = all.into_iter().find(|parent| parent["metadata"]["name"] == sample);
        let sample_parent = sample_parent.context("the sample exists")?;
        ensure!(parents::is_ready(&sample_parent), "the sample is done");
        let mut blank = sample_parent.clone();
        blank["metadata"]["name"] = json!(NAME);
        blank["metadata"]["uid"] = json!(UID);
        let status = json!({
            "metadata": {"resourceVersion": VERSION},
            "status": sample_parent["status"],
        });
        let status = status.to_string().replace(sample, NAME);
        Ok(Self { children: planned(&blank)?, status })
    }

    /// The path and the body of the floor's one Service, for another service name.
    pub(crate) fn service(&self, parent: &Created) -> Result<(String, String)> {
        let service = self.children.iter().find(|(path, _)| path.contains("/services/"));
        let (path, body) = service.context("a Service is planned")?;
        Ok((path.replace(NAME, &parent.name), filled(body, parent)))
    }
}

/// What the operator does for a parent that has nothing yet.
fn planned(parent: &Value) -> Result<Vec<(String, String)>> {
    let config = echo_server::config();
    let parent = Object::from_value(&config.parent, parent, &KeptManagers::default())?;
    let observed = Children::new(config.children.iter().map(|child| (child.ty.clone(), vec![])));
    let response = echo_server::sync(&SyncRequest::new(parent.clone(), observed.clone()))?;
    let plan = plan(PlanInput {
        config: &config,
        operator: &config.operator_name()?,
        parent: &parent,
        desired: response.children,
        observed: &observed,
        unsynced: &BTreeSet::new(),
        memos: &Memos::default(),
    });
    let plan = plan.map_err(|refusals| anyhow::anyhow!("refused: {refusals:?}"))?;
    let create = |step| match step {
        Step::Create(write) => Ok((write.id.ty.object_path(&write.id.key), write.body.to_string())),
        other => anyhow::bail!("a new parent has nothing but creations: {other:?}"),
    };
    let creations: Result<Vec<_>> = plan.steps.into_iter().map(create).collect();
    Ok(creations?.into_iter().map(|(path, body)| (path, in_the_floors_name(&body))).collect())
}

fn in_the_floors_name(body: &str) -> String {
    let own = format!("\"{}\"", echo_server::config().name);
    let floors = format!("\"{USER_AGENT}\"");
    body.replace(&own, &floors).replace("\"EchoServer\"", &format!("\"{}\"", FLOOR.kind))
}

fn filled(body: &str, parent: &Created) -> String {
    body.replace(NAME, &parent.name).replace(UID, &parent.uid).replace(VERSION, &parent.version)
}

/// Creates parents and writes what the operator would, with as many requests in flight: what is
/// created by one group of workers is completed by another.
pub(crate) async fn burst(
    users: &Client,
    client: &Client,
    template: &Template,
    prefix: &str,
    count: usize,
) -> Result<Duration> {
    let started = Instant::now();
    let (created, waiting) = mpsc::unbounded_channel();
    let waiting = Arc::new(Mutex::new(waiting));
    let (users, prefix) = (users.clone(), prefix.to_owned());
    let creating = parents::at_once(count, move |number| {
        let (users, created) = (users.clone(), created.clone());
        let name = format!("{prefix}-{number}");
        async move { Ok(created.send(parents::create(&users, FLOOR, name).await?)?) }
    });
    let completing = (0..CONCURRENCY).map(|_| {
        let (client, template) = (client.clone(), template.clone());
        tokio::spawn(complete_all(client, template, waiting.clone()))
    });
    let completing: Vec<_> = completing.collect();
    creating.await?;
    for worker in completing {
        worker.await??;
    }
    Ok(started.elapsed())
}

async fn complete_all(
    client: Client,
    template: Template,
    waiting: Arc<Mutex<mpsc::UnboundedReceiver<Created>>>,
) -> Result<()> {
    loop {
        let next = waiting.lock().await.recv().await;
        let Some(parent) = next else { return Ok(()) };
        for (path, body) in &template.children {
            let path = path.replace(NAME, &parent.name);
            apply(&client, &path, filled(body, &parent)).await?;
        }
        patch_status(&client, FLOOR, &parent, filled(&template.status, &parent)).await?;
    }
}

/// Applies a child as the operator does.
pub(crate) async fn apply(client: &Client, path: &str, body: String) -> Result<()> {
    let path = format!("{path}?fieldManager={USER_AGENT}&force=true");
    let content_type = "application/apply-patch+yaml";
    let request = parents::request(Method::PATCH, &path, USER_AGENT, content_type, body)?;
    client.request_text(request).await?;
    Ok(())
}

async fn patch_status(
    client: &Client,
    ty: ParentType,
    parent: &Created,
    body: String,
) -> Result<()> {
    let path = format!("{}/{}/status?fieldManager={USER_AGENT}", ty.collection(), parent.name);
    let content_type = "application/merge-patch+json";
    let request = parents::request(Method::PATCH, &path, USER_AGENT, content_type, body)?;
    client.request_text(request).await?;
    Ok(())
}

/// Reads all parents and children, as little as a start has to.
pub(crate) async fn lists(client: &Client) -> Result<Duration> {
    let started = Instant::now();
    let core = |plural| format!("/api/v1/namespaces/{NAMESPACE}/{plural}");
    let paths = [parents::ECHO.collection(), core("pods"), core("services")];
    let list = |path: String| async move {
        let body = String::new();
        let request = parents::request(Method::GET, &path, USER_AGENT, "application/json", body)?;
        anyhow::Ok(client.request_text(request).await?.len())
    };
    futures::future::try_join_all(paths.map(list)).await?;
    Ok(started.elapsed())
}
