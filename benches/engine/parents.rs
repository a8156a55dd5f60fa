//! Parents, created, changed and read with a kube client alone.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context, Result, ensure};
use http::{Method, Request, header};
use kube::Client;
use operetta::supervisor::install_crds;
use serde_json::{Value, json};

use crate::workload::{NAMESPACE, ParentType, Workload};

/// As many as an operator reconciles at once.
pub(crate) const CONCURRENCY: usize = 16;
/// The mark of a new parent.
pub(crate) const FIRST_MARK: &str = "first-mark";
/// The user agent of users.
const USER: &str = "user";

/// The identity of an object in a response.
#[derive(Debug, Clone)]
pub(crate) struct Created {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) version: String,
}

impl Created {
    pub(crate) fn from_response(response: &str) -> Result<Self> {
        let object: Value = serde_json::from_str(response)?;
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        Ok(Self { name: text("name"), uid: text("uid"), version: text("resourceVersion") })
    }
}

/// Installs the definitions of so many parent types and of the floor's.
pub(crate) async fn install(client: &Client, workload: Workload, types: usize) -> Result<()> {
    let own = (0..types).map(|number| workload.parent(number));
    let all = own.chain([workload.floor()]).map(|ty| workload.crd(&ty));
    Ok(install_crds(client, &all.collect::<Result<Vec<_>>>()?).await?)
}

/// Creates one parent.
pub(crate) async fn create(
    client: &Client,
    ty: &ParentType,
    name: String,
    spec: &Value,
) -> Result<Created> {
    create_in(client, (ty, NAMESPACE), name, spec).await
}

/// The same in another namespace.
pub(crate) async fn create_in(
    client: &Client,
    (ty, namespace): (&ParentType, &str),
    name: String,
    spec: &Value,
) -> Result<Created> {
    let path = ty.collection_in(namespace);
    let body = json!({
        "apiVersion": ty.api_version(),
        "kind": ty.kind,
        "metadata": {"name": name},
        "spec": spec,
    });
    let content_type = "application/json";
    let request = request(Method::POST, &path, USER, content_type, body.to_string())?;
    Created::from_response(&client.request_text(request).await?)
}

/// Creates parents `prefix-0` to `prefix-<count - 1>`, some at once.
pub(crate) async fn create_all(
    client: &Client,
    ty: &ParentType,
    prefix: &str,
    count: usize,
    spec: &Value,
) -> Result<()> {
    let shared = Arc::new((client.clone(), ty.clone(), prefix.to_owned(), spec.clone()));
    at_once(count, move |number| {
        let shared = shared.clone();
        async move {
            let (client, ty, prefix, spec) = &*shared;
            create(client, ty, format!("{prefix}-{number}"), spec).await.map(drop)
        }
    })
    .await
}

/// Changes an object by a merge patch as a user.
pub(crate) async fn patch(client: &Client, path: &str, change: &Value) -> Result<Created> {
    let content_type = "application/merge-patch+json";
    let request = request(Method::PATCH, path, USER, content_type, change.to_string())?;
    Created::from_response(&client.request_text(request).await?)
}

/// Deletes an object as a user.
pub(crate) async fn delete(client: &Client, path: &str) -> Result<()> {
    let request = request(Method::DELETE, path, USER, "application/json", String::new())?;
    client.request_text(request).await?;
    Ok(())
}

/// How many objects of a collection have a status.
pub(crate) async fn with_status(client: &Client, path: &str) -> Result<usize> {
    let request = request(Method::GET, path, USER, "application/json", String::new())?;
    let list: Value = serde_json::from_str(&client.request_text(request).await?)?;
    let items = list["items"].as_array().context("a list has items")?;
    Ok(items.iter().filter(|item| item.get("status").is_some()).count())
}

/// Calls `work` with every number below `count`, as many times at once as an operator would.
pub(crate) async fn at_once<F, W>(count: usize, work: F) -> Result<()>
where
    F: Fn(usize) -> W + Clone + Send + 'static,
    W: Future<Output = Result<()>> + Send,
{
    let next = Arc::new(AtomicUsize::new(0));
    let worker = |_| {
        let (work, next) = (work.clone(), next.clone());
        tokio::spawn(async move {
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    number if number < count => work(number).await?,
                    _ => return Ok(()),
                }
            }
        })
    };
    let workers: Vec<_> = (0..CONCURRENCY).map(worker).collect();
    for worker in workers {
        let ended: Result<()> = worker.await?;
        ended?;
    }
    Ok(())
}

/// Fails unless all parents of a prefix have their children and are synced.
pub(crate) async fn check(
    client: &Client,
    workload: Workload,
    prefix: &str,
    count: usize,
) -> Result<()> {
    let parents = (workload.parent(0).collection(), true);
    let children = workload.children().into_iter().map(|path| (path, false));
    for (path, is_parent) in std::iter::once(parents).chain(children) {
        let items = list(client, &path).await?;
        let of_prefix = |item: &&Value| {
            let name = item["metadata"]["name"].as_str().and_then(|name| name.rsplit_once('-'));
            name.is_some_and(|(start, _)| start == prefix)
        };
        let done = items.iter().filter(of_prefix).filter(|item| !is_parent || is_synced(item));
        let done = done.count();
        ensure!(done == count, "{path}: {done} of {count} are synced");
    }
    Ok(())
}

/// The object at a path.
pub(crate) async fn get(client: &Client, path: &str) -> Result<Value> {
    let request = request(Method::GET, path, USER, "application/json", String::new())?;
    Ok(serde_json::from_str(&client.request_text(request).await?)?)
}

/// All objects at a path.
pub(crate) async fn list(client: &Client, path: &str) -> Result<Vec<Value>> {
    let items = get(client, path).await?["items"].take();
    items.as_array().cloned().context("a list has items")
}

/// Whether a parent is synced; nobody runs its Deployment.
pub(crate) fn is_synced(parent: &Value) -> bool {
    let conditions = parent["status"]["conditions"].as_array();
    let mut synced = conditions.into_iter().flatten().filter(|it| it["type"] == "Synced");
    synced.any(|it| {
        it["status"] == "True" && it["observedGeneration"] == parent["metadata"]["generation"]
    })
}

/// A request with a user agent.
pub(crate) fn request(
    method: Method,
    path: &str,
    user_agent: &str,
    content_type: &str,
    body: String,
) -> Result<Request<Vec<u8>>> {
    Ok(Request::builder()
        .method(method)
        .uri(path)
        .header(header::USER_AGENT, user_agent)
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, content_type)
        .body(body.into_bytes())?)
}
