//! Sending Events. No reconcile waits for an Event or fails
//! with it: it goes through a bounded queue, and what does not fit is dropped.

use std::{fmt, sync::OnceLock, time::Duration};

use tokio::sync::{mpsc, oneshot};

use crate::{
    cluster::Cluster,
    operator::OperatorName,
    reply::{ApiError, ErrorClass, ParentEvent, Regarding},
};

/// So many Events of one operator may wait to be sent.
const QUEUE: usize = 256;

/// How often one is sent to a server that asks for patience; those that follow it wait meanwhile.
const TRIES: usize = 3;

/// How long a server is left alone that has too much to do and does not say for how long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Those that wait meanwhile are news as well.
const LONGEST_PATIENCE: Duration = Duration::from_mins(1);

/// The Events of one operator that are on their way; sent one after the other.
#[derive(Default)]
pub(super) struct EventQueue(OnceLock<mpsc::Sender<Entry>>);

/// What waits in the queue.
enum Entry {
    Event(Box<(Regarding, ParentEvent)>),
    /// Who wants to know that what came before was sent.
    Mark(oneshot::Sender<()>),
}

impl EventQueue {
    /// Puts an Event in the queue, to be sent in the name of an operator.
    pub(super) fn send(
        &self,
        cluster: &Cluster,
        operator: &OperatorName,
        about: &Regarding,
        event: ParentEvent,
    ) {
        let start = || start(cluster.clone(), operator.to_string());
        let entry = Entry::Event(Box::new((about.clone(), event)));
        if self.0.get_or_init(start).try_send(entry).is_err() {
            tracing::debug!(%operator, "too many Events: one is not sent");
        }
    }

    /// Returns when all are sent that are in the queue.
    pub(super) async fn told(&self) {
        let Some(queue) = self.0.get() else { return };
        let (mark, reached) = oneshot::channel();
        if queue.send(Entry::Mark(mark)).await.is_ok() {
            // The sender goes with the runtime only.
            let _ = reached.await;
        }
    }
}

/// Ends when the queue is dropped.
fn start(cluster: Cluster, operator: String) -> mpsc::Sender<Entry> {
    let (sender, mut waiting) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        while let Some(entry) = waiting.recv().await {
            match entry {
                Entry::Event(event) => publish(&cluster, &operator, &event).await,
                // Who asked may have given up.
                Entry::Mark(mark) => drop(mark.send(())),
            }
        }
    });
    sender
}

async fn publish(cluster: &Cluster, operator: &str, (about, event): &(Regarding, ParentEvent)) {
    for tries in 1..=TRIES {
        let Err(error) = cluster.publish(operator, about, event).await else { return };
        tracing::debug!(operator, %error, "cannot tell an Event");
        let Some(pause) = patience(&error).filter(|_| tries < TRIES) else { return };
        tokio::time::sleep(pause).await;
    }
}

/// How long a server is told nothing that has too much to do.
fn patience(error: &ApiError) -> Option<Duration> {
    match error.class() {
        ErrorClass::Wait(asked) => Some(asked.min(LONGEST_PATIENCE)),
        _ => error.is_throttling().then_some(PATIENCE),
    }
}

impl fmt::Debug for EventQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventQueue")
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::{Arc, Mutex},
        time::SystemTime,
    };

    use http::{Request, Response};
    use kube::{Client, client::Body};
    use serde_json::json;

    use super::*;
    use crate::{
        metrics::Metrics,
        object::{K8sType, KeptManagers, ObjectKey},
        reply::EventKind,
    };

    fn event(name: u64) -> Entry {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let about = Regarding { ty, key: ObjectKey::namespaced("ns", "a"), uid: None };
        let (kind, at) = (EventKind::Warning, SystemTime::UNIX_EPOCH);
        let (reason, message) = ("Odd".to_owned(), "odd".to_owned());
        Entry::Event(Box::new((about, ParentEvent { kind, reason, message, name, count: 1, at })))
    }

    /// When which Event was sent, if the server refuses the first request with 429.
    async fn sent_to_a_busy_server(details: serde_json::Value) -> Vec<(Duration, u64)> {
        let (begun, sent) = (tokio::time::Instant::now(), Arc::new(Mutex::new(Vec::new())));
        let told = sent.clone();
        let serve = move |request: Request<Body>| {
            let (told, busy) = (told.clone(), json!({"code": 429, "details": details}));
            async move {
                use http_body_util::BodyExt;
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(body["eventTime"], "1970-01-01T00:00:00.000000Z", "not when it is sent");
                let name = body["metadata"]["name"].as_str().unwrap();
                let name = name.rsplit('-').next().and_then(|name| name.parse().ok()).unwrap();
                let mut told = told.lock().unwrap();
                told.push((begun.elapsed(), name));
                let (code, answer) = if told.len() == 1 { (429, busy) } else { (201, json!({})) };
                let body = Body::from(answer.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        };
        let client = Client::new(tower::service_fn(serve), "ns");
        let cluster = Cluster::new(client, Metrics::new(), KeptManagers::default());
        let queue = start(cluster, "op".to_owned());
        let (mark, reached) = oneshot::channel();
        for entry in [event(1), event(2), Entry::Mark(mark)] {
            queue.send(entry).await.ok().unwrap();
        }
        reached.await.unwrap();
        let sent = sent.lock().unwrap();
        sent.clone()
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_asks_for_patience_is_told_nothing_meanwhile_and_then_everything() {
        let seconds = Duration::from_secs;
        for (details, pause) in
            [(json!({"retryAfterSeconds": 30}), seconds(30)), (json!({}), PATIENCE)]
        {
            let sent = sent_to_a_busy_server(details).await;
            let names: Vec<_> = sent.iter().map(|(_, name)| *name).collect();
            assert_eq!(names, [1, 1, 2]);
            assert!(sent[0].0 < pause && sent[1].0 >= pause, "{sent:?}");
        }
    }
}
