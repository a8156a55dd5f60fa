//! The writes that a server received, with their times: of the embedded server from a layer around it, of the real one from
//! its audit log.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use futures::FutureExt;
use http::{Method, Request, header::USER_AGENT};
use k8s_openapi::jiff::Timestamp;
use operetta_apiserver::{Layer, Server};
use operetta_controlplane::AuditEvent;
use serde_json::Value;

use crate::{
    cluster::Cluster,
    needs::{Chosen, Need, needs},
    world::World,
};

/// A write of a replica, as the server received it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Write {
    /// The beginning of the user agent, which is the identity of the replica.
    pub(super) replica: String,
    pub(super) verb: String,
    pub(super) resource: String,
    pub(super) name: String,
    pub(super) code: u16,
    /// It took effect between these times, if it did.
    pub(super) received: Timestamp,
    pub(super) answered: Timestamp,
    /// What was sent; of the real server only that of Leases.
    pub(super) body: Value,
}

/// Where the writes of a world are logged.
pub(super) enum Log {
    Recorded(Arc<Mutex<Vec<Write>>>),
    Audited,
}

/// A world whose server logs writes.
pub(super) async fn world() -> (World, Log) {
    needs(Need::RequestLog);
    if Chosen::from_environment() != Chosen::Embedded {
        return (World::new().await, Log::Audited);
    }
    let writes = Arc::default();
    let server = Server::builder().layer(recorder(Arc::clone(&writes))).start();
    (World::of(&server).await, Log::Recorded(writes))
}

impl Write {
    /// Whether it took effect.
    pub(super) fn is_sure(&self) -> bool {
        self.code < 300 && self.code != 0
    }

    /// Whether that is not known. The real server answers so to a client that has left, also when the write took effect.
    fn is_unknown(&self) -> bool {
        matches!(self.code, 0 | 499 | 500..)
    }
}

impl Log {
    /// The writes of the replicas in a world that took effect, or may have, by the time at which they were received.
    pub(super) async fn writes(&self, world: &World) -> Vec<Write> {
        let mut writes = match (self, &world.cluster) {
            (Self::Recorded(writes), _) => mem::take(&mut *lock(writes)),
            (Self::Audited, Cluster::Real(cluster, _)) => {
                let cluster = *cluster;
                let events = tokio::task::spawn_blocking(|| cluster.audit_events()).await;
                let events = events.unwrap().unwrap().into_iter();
                events.filter(|it| it.namespace == world.namespace).filter_map(audited).collect()
            }
            (Self::Audited, _) => panic!("only the real server has an audit log"),
        };
        writes.retain(|write| write.replica.starts_with(super::REPLICA));
        writes.retain(|write| write.is_sure() || write.is_unknown());
        writes.sort_by_key(|write| write.received);
        writes
    }
}

/// Writes down each write. A request is answered to its end, also when its client has left.
fn recorder(writes: Arc<Mutex<Vec<Write>>>) -> Layer {
    Arc::new(move |request, next| {
        let (begun, writes) = (received(&request), Arc::clone(&writes));
        async move {
            let answering = tokio::spawn(async move { next.handle(request).await });
            let answer = answering.await.unwrap();
            if let Some(begun) = begun {
                let (code, answered) = (answer.status().as_u16(), Timestamp::now());
                lock(&writes).push(Write { code, answered, ..begun });
            }
            answer
        }
        .boxed()
    })
}

/// A write that is not answered yet; none for what is no write of an object.
fn received(request: &Request<Bytes>) -> Option<Write> {
    let verb = match *request.method() {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => return None,
    };
    if is_dry(&request.uri().to_string()) {
        return None;
    }
    let (_, place) = request.uri().path().split_once("/namespaces/")?;
    let mut parts = place.split('/').skip(1);
    let resource = parts.next()?.to_owned();
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    let named = body["metadata"]["name"].as_str().unwrap_or_default();
    let name = parts.next().unwrap_or(named).to_owned();
    let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let (now, replica) = (Timestamp::now(), replica(agent.unwrap_or_default()));
    let verb = verb.to_owned();
    Some(Write { replica, verb, resource, name, code: 0, received: now, answered: now, body })
}

fn audited(event: AuditEvent) -> Option<Write> {
    if !event.is_write() || is_dry(&event.uri) {
        return None;
    }
    let named = event.body["metadata"]["name"].as_str().unwrap_or_default();
    let name = if event.name.is_empty() { named.to_owned() } else { event.name };
    Some(Write {
        replica: replica(&event.user_agent),
        verb: event.verb,
        resource: event.resource,
        name,
        code: event.code,
        received: event.received.parse().unwrap(),
        answered: event.reached.parse().unwrap(),
        body: event.body,
    })
}

fn is_dry(uri: &str) -> bool {
    uri.contains("dryRun=All")
}

/// The name of the program, with which the user agent begins.
fn replica(agent: &str) -> String {
    agent.split('/').next().unwrap_or_default().to_owned()
}

fn lock(writes: &Mutex<Vec<Write>>) -> MutexGuard<'_, Vec<Write>> {
    writes.lock().unwrap_or_else(PoisonError::into_inner)
}
