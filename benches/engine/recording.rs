//! Records the operator's requests to an embedded server: they are the floor's requests.
//!
//! It begins with lists and watches. Then one parent is created, changed, and its watched child edited and
//! deleted by hand; the bodies of the operator's requests become templates with name, uid, version
//! and mark as placeholders. So the floor needs no knowledge of the plan.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Method, Request, header};
use kube::Client;
use operetta_apiserver::{Layer, Server};
use serde_json::{Value, json};

use crate::{
    operators::{self, Operators},
    parents::{self, Created, FIRST_MARK},
    workload::{ParentType, Workload},
};

const PARENT: &str = "blank-parent";
const NEXT_MARK: &str = "blank-mark";
const DEADLINE: Duration = Duration::from_secs(20);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The watches of the operator, and the requests that follow each change.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    /// Its lists, each up to its first page, of its own parents and their children.
    pub(crate) lists: Vec<String>,
    /// Its watches, for the floor's parents and children.
    pub(crate) watches: Vec<String>,
    /// To a new parent: its children and its status.
    pub(crate) create: Vec<Template>,
    /// To another spec: the watched child, then the status.
    pub(crate) change: Vec<Template>,
    /// To an edit of the watched child by another client.
    pub(crate) edit: Vec<Template>,
    /// To its deletion: whatever it reads before, and the write.
    pub(crate) delete: Vec<Template>,
}

/// A request with placeholders.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content_type: String,
    body: String,
    values: Arc<Values>,
}

/// The values of the placeholders in the recording.
#[derive(Debug)]
struct Values {
    parent_uid: String,
    child_uid: String,
}

/// A read of one object or a write, as it was sent.
#[derive(Debug)]
struct Sent {
    method: Method,
    path: String,
    content_type: String,
    body: String,
}

/// The requests since they were last taken.
type Asked = Arc<Mutex<Log>>;

#[derive(Debug, Default)]
struct Log {
    lists: Vec<String>,
    watches: Vec<String>,
    requests: Vec<Sent>,
}

impl Recording {
    /// Records the operator of a workload, for the floor and its parents.
    pub(crate) async fn take(workload: Workload) -> Result<Self> {
        Self::take_as(workload, "floor", workload.floor()).await
    }

    /// The same for the operator itself and its own parents.
    pub(crate) async fn of_own(workload: Workload) -> Result<Self> {
        let ty = workload.parent(0);
        let name = workload.config(&ty).name().to_owned();
        Self::take_as(workload, &name, ty).await
    }

    async fn take_as(workload: Workload, name: &str, ty: ParentType) -> Result<Self> {
        let mut session = Session::begin(workload).await?;
        let (created, create) = session.created().await?;
        let child_uid = session.child().await?["metadata"]["uid"].as_str().map(str::to_owned);
        let child_uid = child_uid.context("the watched child exists")?;
        let values = Arc::new(Values { parent_uid: created.uid, child_uid });
        let (change, edit) = (session.changed().await?, session.edited().await?);
        let delete = session.deleted().await?;
        let paths = session.paths_of_one();
        session.operators.stop().await?;
        let twin = |sent: Sent| template(sent, workload, (name, &ty), values.clone());
        let is_of_one = |sent: &Sent| paths.iter().any(|path| sent.is_of(path));
        let of_one = |all: Vec<Sent>| all.into_iter().filter(is_of_one).map(twin).collect();
        let watches = session.watches.iter().map(|path| floors_watch(path, workload));
        Ok(Self {
            lists: mem::take(&mut session.lists),
            watches: watches.collect(),
            create: create.into_iter().map(twin).collect(),
            change: of_one(change),
            edit: of_one(edit),
            delete: of_one(delete),
        })
    }
}

/// An operator on a server that listens.
struct Session {
    workload: Workload,
    client: Client,
    operators: Operators,
    lists: Vec<String>,
    watches: Vec<String>,
    asked: Asked,
}

impl Session {
    async fn begin(workload: Workload) -> Result<Self> {
        let asked = Asked::default();
        let server = Server::builder().layer(listener(asked.clone())).start();
        let client = server.client();
        parents::install(&client, workload, 1).await?;
        let connect = Box::new(move || Box::pin(async move { Ok(server.client()) }) as _);
        let operators = Operators::start(connect, workload, 1).await?;
        let Log { lists, watches, .. } = mem::take(&mut *lock(&asked));
        Ok(Self { workload, client, operators, lists, watches, asked })
    }

    async fn created(&self) -> Result<(Created, Vec<Sent>)> {
        let (ty, spec) = (self.workload.parent(0), self.workload.spec(FIRST_MARK));
        let parent = parents::create(&self.client, &ty, PARENT.to_owned(), &spec).await?;
        until(|| self.is_synced()).await?;
        Ok((parent, taken(&self.asked)))
    }

    async fn changed(&self) -> Result<Vec<Sent>> {
        let change = json!({"spec": self.workload.spec(NEXT_MARK)});
        parents::patch(&self.client, &self.parent_path(), &change).await?;
        until(|| self.is_synced()).await?;
        Ok(taken(&self.asked))
    }

    async fn edited(&self) -> Result<Vec<Sent>> {
        let edit = self.workload.edit("another-clients");
        parents::patch(&self.client, &self.child_path(), &edit).await?;
        until(|| self.has_mark()).await?;
        Ok(taken(&self.asked))
    }

    async fn deleted(&self) -> Result<Vec<Sent>> {
        parents::delete(&self.client, &self.child_path()).await?;
        until(|| self.has_mark()).await?;
        Ok(taken(&self.asked))
    }

    async fn is_synced(&self) -> Result<bool> {
        Ok(parents::is_synced(&parents::get(&self.client, &self.parent_path()).await?))
    }

    /// Not an error while the child is deleted.
    async fn has_mark(&self) -> Result<bool> {
        Ok(self.child().await.is_ok_and(|child| self.workload.mark(&child) == Some(NEXT_MARK)))
    }

    async fn child(&self) -> Result<Value> {
        parents::get(&self.client, &self.child_path()).await
    }

    fn parent_path(&self) -> String {
        format!("{}/{PARENT}", self.workload.parent(0).collection())
    }

    fn child_path(&self) -> String {
        format!("{}/{PARENT}", self.workload.watched())
    }

    /// The parent, its status and its watched child.
    fn paths_of_one(&self) -> [String; 3] {
        let parent = self.parent_path();
        [format!("{parent}/status"), parent, self.child_path()]
    }
}

/// Without the timeout of the operator's watch, as the floor does not restart its watches, and without
/// its version, which is that of the server of the recording.
fn floors_watch(path: &str, workload: Workload) -> String {
    let (own, floor) = (workload.parent(0), workload.floor());
    let name = workload.config(&own).name().to_owned();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = path.replace(&format!("/{}", own.plural), &format!("/{}", floor.plural));
    let is_left_out =
        |part: &&str| part.starts_with("timeoutSeconds=") || part.starts_with("resourceVersion=");
    let parts: Vec<_> = query.split('&').filter(|part| !is_left_out(part)).collect();
    format!("{path}?{}", parts.join("&").replace(&name, "floor"))
}

/// With the name of a twin, for its parents.
fn template(
    sent: Sent,
    workload: Workload,
    (twin, ty): (&str, &ParentType),
    values: Arc<Values>,
) -> Template {
    let Sent { method, path, content_type, body } = sent;
    let own = workload.parent(0);
    let name = workload.config(&own).name().to_owned();
    let path = path
        .replace(&format!("/{}/", own.plural), &format!("/{}/", ty.plural))
        .replace(&format!("fieldManager={name}"), &format!("fieldManager={twin}"));
    let body = body
        .replace(&format!("\"{name}\""), &format!("\"{twin}\""))
        .replace(&format!("\"{}\"", own.kind), &format!("\"{}\"", ty.kind));
    Template { method, path, content_type, body, values }
}

impl Sent {
    fn is_of(&self, path: &str) -> bool {
        self.path.split('?').next() == Some(path)
    }
}

impl Template {
    pub(crate) fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// The path for a parent.
    pub(crate) fn path(&self, parent: &Created) -> String {
        self.path.replace(PARENT, &parent.name)
    }

    /// The body for a new parent.
    pub(crate) fn body(&self, parent: &Created) -> Result<String> {
        let body = self.body.replace(PARENT, &parent.name);
        let body = body.replace(&self.values.parent_uid, &parent.uid);
        if self.path.contains("/status?") { with_version(&body, &parent.version) } else { Ok(body) }
    }

    /// The body for a parent with another mark, whose watched child has this uid.
    pub(crate) fn body_of_change(
        &self,
        parent: &Created,
        child: &str,
        mark: &str,
    ) -> Result<String> {
        let body = self.body(parent)?;
        Ok(body.replace(&self.values.child_uid, child).replace(NEXT_MARK, mark))
    }
}

/// A status write names the version that it was computed from.
fn with_version(body: &str, version: &str) -> Result<String> {
    let mut body: Value = serde_json::from_str(body)?;
    body["metadata"]["resourceVersion"] = json!(version);
    Ok(body.to_string())
}

/// Records the operator's requests, and passes everything through.
fn listener(asked: Asked) -> Layer {
    Arc::new(move |request: Request<Bytes>, next| {
        if is_of_operator(&request) {
            lock(&asked).note(&request);
        }
        Box::pin(async move { next.handle(request).await })
    })
}

impl Log {
    fn note(&mut self, request: &Request<Bytes>) {
        let (path, method) = (request.uri().to_string(), request.method().clone());
        if path.contains("watch=1") {
            self.watches.push(path);
        } else if path.contains("limit=") {
            self.lists.push(path);
        } else if path.contains(PARENT) {
            let header = request.headers().get(header::CONTENT_TYPE);
            let content_type =
                header.and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
            let body = String::from_utf8_lossy(request.body()).into_owned();
            self.requests.push(Sent { method, path, content_type, body });
        }
    }
}

fn is_of_operator(request: &Request<Bytes>) -> bool {
    let user_agent = request.headers().get(header::USER_AGENT);
    let user_agent = user_agent.and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    user_agent.starts_with(operators::USER_AGENT)
}

fn taken(asked: &Asked) -> Vec<Sent> {
    mem::take(&mut lock(asked).requests)
}

fn lock(asked: &Asked) -> MutexGuard<'_, Log> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn until<C, F>(condition: C) -> Result<()>
where
    C: Fn() -> F,
    F: Future<Output = Result<bool>>,
{
    let met = async {
        while !condition().await? {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(DEADLINE, met).await.context("the operator does not react")?
}
