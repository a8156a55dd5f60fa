//! The floor: the requests that the operator makes, issued straight through a kube client. Their
//! bodies are the operator's own, from the recording; they go to the twin of its parent type.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use futures::{AsyncBufReadExt, TryStreamExt};
use http::{Method, Request};
use kube::{
    Client,
    core::{DynamicObject, ObjectList},
};
use tokio::sync::{Mutex, mpsc};

use crate::{
    bare::BareProgram,
    parents::{self, Created, FIRST_MARK},
    recording::{Recording, Template},
    workload::Workload,
};

/// The user agent of the floor's requests.
pub(crate) const USER_AGENT: &str = "floor";

/// As many requests as Operetta has in flight at most.
const IN_FLIGHT: usize = 32;

/// Creates parents and makes the operator's writes, with as many requests in flight: one group of workers
/// creates them, another writes their children and status.
pub(crate) async fn burst(
    (users, bare): (&Client, &BareProgram),
    (workload, recording): (Workload, &Arc<Recording>),
    prefix: &str,
    count: usize,
) -> Result<Duration> {
    let started = Instant::now();
    let (created, waiting) = mpsc::unbounded_channel();
    let waiting = Arc::new(Mutex::new(waiting));
    let what = Arc::new((users.clone(), workload.floor(), workload.spec(FIRST_MARK)));
    let prefix = prefix.to_owned();
    let creating = parents::at_once(count, move |number| {
        let (what, created, name) = (what.clone(), created.clone(), format!("{prefix}-{number}"));
        async move {
            let (users, ty, spec) = &*what;
            Ok(created.send(parents::create(users, ty, name, spec).await?)?)
        }
    });
    let complete = |_| bare.spawn(complete_all(bare.client(), recording.clone(), waiting.clone()));
    let completing: Vec<_> = (0..IN_FLIGHT).map(complete).collect::<Result<_>>()?;
    creating.await?;
    for worker in completing {
        worker.await??;
    }
    Ok(started.elapsed())
}

async fn complete_all(
    bare: Client,
    recording: Arc<Recording>,
    waiting: Arc<Mutex<mpsc::UnboundedReceiver<Created>>>,
) -> Result<()> {
    loop {
        let next = waiting.lock().await.recv().await;
        let Some(parent) = next else { return Ok(()) };
        for template in &recording.create {
            send(&bare, template, &parent, template.body(&parent)?).await?;
        }
    }
}

/// Issues a request of the recording; returns the response.
pub(crate) async fn send(
    bare: &Client,
    template: &Template,
    parent: &Created,
    body: String,
) -> Result<String> {
    let (path, content_type) = (template.path(parent), &template.content_type);
    let request = parents::request(template.method.clone(), &path, USER_AGENT, content_type, body)?;
    Ok(bare.request_text(request).await?)
}

/// Lists all parents and children, the minimum of a start.
pub(crate) async fn lists(bare: &Client, workload: Workload) -> Result<Duration> {
    let started = Instant::now();
    let list = |path: String| async move { get(bare, &path).await };
    futures::future::try_join_all(collections(workload).map(list)).await?;
    Ok(started.elapsed())
}

/// The same decoded, as by `Api<DynamicObject>`, on all processors.
pub(crate) async fn decoded_lists(bare: &Client, workload: Workload) -> Result<Duration> {
    let started = Instant::now();
    let list = |path: String| {
        let bare = bare.clone();
        tokio::spawn(async move {
            anyhow::Ok(bare.request::<ObjectList<DynamicObject>>(listing(&path)?).await?)
        })
    };
    let lists = futures::future::try_join_all(collections(workload).map(list)).await?;
    let took = started.elapsed();
    lists.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(took)
}

/// Issues the lists of the operator, each in its pages.
pub(crate) async fn pages(bare: &Client, recording: &Recording) -> Result<Duration> {
    let started = Instant::now();
    let list = |first: &String| {
        let first = first.clone();
        async move {
            let mut page = get(bare, &first).await?;
            while let Some(token) = next(&page) {
                page = get(bare, &format!("{first}&continue={token}")).await?;
            }
            anyhow::Ok(())
        }
    };
    futures::future::try_join_all(recording.lists.iter().map(list)).await?;
    Ok(started.elapsed())
}

/// The continue token of a page. It precedes the objects, which are not read.
fn next(page: &str) -> Option<&str> {
    let head = page.split("\"items\"").next()?;
    head.split_once("\"continue\":\"")?.1.split('"').next().filter(|token| !token.is_empty())
}

async fn get(bare: &Client, path: &str) -> Result<String> {
    Ok(bare.request_text(listing(path)?).await?)
}

fn listing(path: &str) -> Result<Request<Vec<u8>>> {
    let nothing = String::new();
    parents::request(Method::GET, path, USER_AGENT, "application/json", nothing)
}

/// Reads them as streaming lists: watches that begin with all objects and a bookmark.
pub(crate) async fn streamed_lists(bare: &Client, workload: Workload) -> Result<Duration> {
    const QUERY: &str = "watch=1&allowWatchBookmarks=true&sendInitialEvents=true\
                         &resourceVersionMatch=NotOlderThan";
    let started = Instant::now();
    let list = |path: String| async move {
        let request = listing(&format!("{path}?{QUERY}"))?;
        let mut lines = bare.request_stream(request).await?.lines();
        while let Some(line) = lines.try_next().await? {
            if line.contains("k8s.io/initial-events-end") {
                return Ok(());
            }
        }
        anyhow::bail!("a streamed list ended early")
    };
    futures::future::try_join_all(collections(workload).map(list)).await?;
    Ok(started.elapsed())
}

fn collections(workload: Workload) -> impl Iterator<Item = String> {
    workload.children().into_iter().chain([workload.parent(0).collection()])
}
