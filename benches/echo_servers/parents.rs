//! Parents, made and read with nothing but a kube client.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ::operators::{echo_server, install};
use anyhow::{Context, Result, ensure};
use http::{Method, Request, header};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use serde_json::{Value, json};

/// Every server has it from the start.
pub(crate) const NAMESPACE: &str = "default";
/// As many as an operator has runs in flight.
pub(crate) const CONCURRENCY: usize = 16;
/// Who makes parents.
const USER: &str = "user";

/// A type of parents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParentType {
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
}

/// The operator's own.
pub(crate) const ECHO: ParentType = ParentType { kind: "EchoServer", plural: "echoservers" };
/// The same under another name, which no operator watches: the floor's.
pub(crate) const FLOOR: ParentType = ParentType { kind: "FloorServer", plural: "floorservers" };

/// What the server said of a new parent.
#[derive(Debug, Clone)]
pub(crate) struct Created {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) version: String,
}

impl ParentType {
    pub(crate) fn collection(self) -> String {
        format!("/apis/example.operetta.dev/v1alpha1/namespaces/{NAMESPACE}/{}", self.plural)
    }

    fn crd(self) -> CustomResourceDefinition {
        let mut crd = echo_server::operator().crd;
        crd.metadata.name = Some(format!("{}.{}", self.plural, crd.spec.group));
        let names = &mut crd.spec.names;
        self.kind.clone_into(&mut names.kind);
        self.plural.clone_into(&mut names.plural);
        names.singular = Some(self.kind.to_lowercase());
        names.list_kind = Some(format!("{}List", self.kind));
        names.short_names = None;
        crd
    }
}

/// Makes the server know the two types.
pub(crate) async fn install(client: &Client) -> Result<()> {
    Ok(install::install(client, &[ECHO.crd(), FLOOR.crd()]).await?)
}

/// Creates one parent.
pub(crate) async fn create(client: &Client, ty: ParentType, name: String) -> Result<Created> {
    let body = json!({
        "apiVersion": "example.operetta.dev/v1alpha1",
        "kind": ty.kind,
        "metadata": {"name": name},
        "spec": {"serviceName": "hello"},
    });
    let request =
        request(Method::POST, &ty.collection(), USER, "application/json", body.to_string())?;
    let created: Value = serde_json::from_str(&client.request_text(request).await?)?;
    let text = |field: &str| created["metadata"][field].as_str().unwrap_or_default().to_owned();
    Ok(Created { name, uid: text("uid"), version: text("resourceVersion") })
}

/// Creates parents `prefix-0` to `prefix-<count - 1>`, some at once.
pub(crate) async fn create_all(
    client: &Client,
    ty: ParentType,
    prefix: &str,
    count: usize,
) -> Result<()> {
    let (client, prefix) = (client.clone(), prefix.to_owned());
    at_once(count, move |number| {
        let (client, name) = (client.clone(), format!("{prefix}-{number}"));
        async move { create(&client, ty, name).await.map(drop) }
    })
    .await
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

/// Fails unless all parents of a prefix have their children and a status that says so.
pub(crate) async fn check(client: &Client, prefix: &str, count: usize) -> Result<()> {
    let core = |plural| format!("/api/v1/namespaces/{NAMESPACE}/{plural}");
    for (path, is_parent) in
        [(ECHO.collection(), true), (core("pods"), false), (core("services"), false)]
    {
        let items = list(client, &path).await?;
        let of_prefix = |item: &&Value| {
            let name = item["metadata"]["name"].as_str().and_then(|name| name.rsplit_once('-'));
            name.is_some_and(|(start, _)| start == prefix)
        };
        let done = items.iter().filter(of_prefix).filter(|item| !is_parent || is_ready(item));
        let done = done.count();
        ensure!(done == count, "{path}: {done} of {count} are as they should be");
    }
    Ok(())
}

/// All objects at a path.
pub(crate) async fn list(client: &Client, path: &str) -> Result<Vec<Value>> {
    let request = request(Method::GET, path, USER, "application/json", String::new())?;
    let mut list: Value = serde_json::from_str(&client.request_text(request).await?)?;
    let items = list["items"].take();
    items.as_array().cloned().context("a list has items")
}

/// Whether a parent says that its children are as desired.
pub(crate) fn is_ready(parent: &Value) -> bool {
    let conditions = parent["status"]["conditions"].as_array();
    let mut ready = conditions.into_iter().flatten().filter(|it| it["type"] == "Ready");
    ready.any(|it| {
        it["status"] == "True" && it["observedGeneration"] == parent["metadata"]["generation"]
    })
}

/// A request in somebody's name.
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
