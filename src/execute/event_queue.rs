//! Sends Events. No reconcile waits for an Event or fails with it: a bounded queue drops what does not fit.

use std::{sync::OnceLock, time::Duration};

use tokio::sync::{mpsc, oneshot};

use crate::{
    cluster::Cluster,
    metrics::Work,
    object::OneLine,
    operator::OperatorName,
    reply::{ApiError, ErrorClass, ParentEvent, Regarding},
};

const QUEUE: usize = 256;

/// How often an Event is sent to a server that throttles; those behind it wait meanwhile.
const TRIES: usize = 3;

/// The wait after throttling without `Retry-After`.
const THROTTLE_PAUSE: Duration = Duration::from_secs(1);

/// The longest wait: the Events behind it must not become outdated.
const LONGEST_THROTTLE_PAUSE: Duration = Duration::from_mins(1);

/// The Events of one operator that wait to be sent, one by one.
#[derive(Default)]
pub(super) struct EventQueue(OnceLock<mpsc::Sender<Entry>>);

enum Entry {
    Event(Box<(Regarding, ParentEvent)>, Work),
    /// Signals that all earlier entries were sent.
    Mark(oneshot::Sender<()>),
}

impl EventQueue {
    pub(super) fn send(
        &self,
        cluster: &Cluster,
        operator: &OperatorName,
        (about, event): (&Regarding, ParentEvent),
        work: Work,
    ) {
        let start = || start(cluster.clone(), operator.to_string());
        let entry = Entry::Event(Box::new((about.clone(), event)), work);
        if self.0.get_or_init(start).try_send(entry).is_err() {
            tracing::debug!(%operator, "the Event queue is full: an Event was dropped");
        }
    }

    pub(super) async fn flush(&self) {
        let Some(queue) = self.0.get() else { return };
        let (mark, reached) = oneshot::channel();
        if queue.send(Entry::Mark(mark)).await.is_ok() {
            // The sender ends only with the runtime.
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
                Entry::Event(event, work) => {
                    publish(&cluster, &operator, &event).await;
                    drop(work);
                }
                // The waiter may have been dropped.
                Entry::Mark(mark) => drop(mark.send(())),
            }
        }
    });
    sender
}

async fn publish(cluster: &Cluster, operator: &str, (about, event): &(Regarding, ParentEvent)) {
    for tries in 1..=TRIES {
        let Err(error) = cluster.publish(operator, about, event).await else { return };
        tracing::debug!(operator, error = %OneLine(&error), "cannot send an Event");
        let Some(pause) = pause_after(&error).filter(|_| tries < TRIES) else { return };
        tokio::time::sleep(pause).await;
    }
}

/// How long to wait after an error; `None` for no retry.
fn pause_after(error: &ApiError) -> Option<Duration> {
    match error.class() {
        ErrorClass::Wait(asked) => Some(asked.min(LONGEST_THROTTLE_PAUSE)),
        _ => error.is_throttling().then_some(THROTTLE_PAUSE),
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
        metrics::{Activity, Metrics},
        object::{K8sType, KeptManagers, ObjectKey},
        reply::{EventKind, IfKnown},
    };

    fn event(name: u64) -> Entry {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let about = Regarding { ty, key: ObjectKey::namespaced("ns", "a"), uid: None };
        let (kind, at) = (EventKind::Warning, SystemTime::UNIX_EPOCH);
        let (reason, message) = ("Odd".to_owned(), "odd".to_owned());
        let event =
            ParentEvent { kind, reason, message, name, count: 1, at, if_known: IfKnown::Keep };
        Entry::Event(Box::new((about, event)), Activity::default().begin())
    }

    /// The Events and their times, if the server refuses the first request with 429.
    async fn sent_to_a_busy_server(details: serde_json::Value) -> Vec<(Duration, u64)> {
        let (begun, sent) = (tokio::time::Instant::now(), Arc::new(Mutex::new(Vec::new())));
        let log = sent.clone();
        let serve = move |request: Request<Body>| {
            let (log, busy) = (log.clone(), json!({"code": 429, "details": details}));
            async move {
                use http_body_util::BodyExt;
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(
                    body["eventTime"], "1970-01-01T00:00:00.000000Z",
                    "not the time of sending"
                );
                let name = body["metadata"]["name"].as_str().unwrap();
                let name = name.rsplit('-').next().and_then(|name| name.parse().ok()).unwrap();
                let mut log = log.lock().unwrap();
                log.push((begun.elapsed(), name));
                let (code, answer) = if log.len() == 1 { (429, busy) } else { (201, json!({})) };
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
    async fn a_throttling_server_gets_no_event_meanwhile_and_then_every_event() {
        let seconds = Duration::from_secs;
        for (details, pause) in
            [(json!({"retryAfterSeconds": 30}), seconds(30)), (json!({}), THROTTLE_PAUSE)]
        {
            let sent = sent_to_a_busy_server(details).await;
            let names: Vec<_> = sent.iter().map(|(_, name)| *name).collect();
            assert_eq!(names, [1, 1, 2]);
            assert!(sent[0].0 < pause && sent[1].0 >= pause, "{sent:?}");
        }
    }
}
