//! Reads the Kubernetes Events of a parent and its children for the API and the page: bounded in requests,
//! time and size, and apart from the reconciles. Decides nothing.

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use futures::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use super::Context;
use crate::{
    board::{EventReading, EventSubject},
    cluster::EventList,
    object::ObjectEvent,
    reply::{ApiError, ErrorClass},
};

/// The most objects to read Events of: one request each, as the API can select by one uid only.
const MAX_OBJECTS: usize = 20;
const AT_ONCE: usize = 4;
/// The time after which the answers so far are returned.
const DEADLINE: Duration = Duration::from_secs(5);
const MAX_EVENTS: usize = 100;

impl Context {
    /// The newest Events about some objects, as the API server has them now, with the errors of failed reads.
    pub(crate) async fn read_events(&self, about: &[EventSubject]) -> EventReading {
        let until = Instant::now() + DEADLINE;
        let asked = about[..about.len().min(MAX_OBJECTS)].to_vec();
        let (mut gathered, wanted) = (Gathered::default(), asked.len());
        if let Ok(Ok(_permit)) = timeout_at(until, self.event_readers.acquire()).await {
            let ask = |EventSubject { key, uid }| {
                let cluster = self.parts.cluster.clone();
                async move {
                    let list = cluster.events_about(&key, &uid).await;
                    (key.namespace, list)
                }
            };
            let mut answers = stream::iter(asked).map(ask).buffer_unordered(AT_ONCE);
            while let Ok(Some((namespace, list))) = timeout_at(until, answers.next()).await {
                gathered.add(namespace.as_deref().unwrap_or("default"), list);
            }
        }
        if gathered.answers < wanted {
            gathered.errors.insert(format!(
                "the API server answered {} of {wanted} requests for Events within {} s",
                gathered.answers,
                DEADLINE.as_secs()
            ));
        }
        let objects_omitted = about.len() - gathered.answers;
        EventReading { objects_omitted, ..gathered.newest_first() }
    }
}

#[derive(Default)]
struct Gathered {
    events: Vec<ObjectEvent>,
    /// Objects with more Events than are read.
    cut: usize,
    answers: usize,
    errors: BTreeSet<String>,
}

impl Gathered {
    fn add(&mut self, namespace: &str, list: Result<EventList, ApiError>) {
        self.answers += 1;
        match list {
            Ok(EventList { events, is_cut }) => {
                self.events.extend(events);
                self.cut += usize::from(is_cut);
            }
            Err(error) if error.class() == ErrorClass::Forbidden => {
                let missing = format!("missing permission: list on events in `{namespace}`");
                self.errors.insert(format!("{missing}; {error}"));
            }
            Err(error) => {
                self.errors.insert(error.to_string());
            }
        }
    }

    fn newest_first(self) -> EventReading {
        let Self { mut events, cut, answers: _, errors } = self;
        // Events without a time come last; Warnings first among equal times.
        events.sort_by_key(|event| Reverse((event.last, event.is_warning)));
        let omitted = events.len().saturating_sub(MAX_EVENTS) + cut;
        events.truncate(MAX_EVENTS);
        EventReading { events, omitted, errors: errors.into_iter().collect(), objects_omitted: 0 }
    }
}
