//! What Kubernetes tells of a parent and its children, read for somebody who looks: bounded in requests,
//! in time and in size, and apart from the reconciles. It decides nothing.

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

/// About so many objects is asked: a request for each, as the API can select by one uid only.
const MAX_OBJECTS: usize = 20;
/// So many requests are under way at once.
const AT_ONCE: usize = 4;
/// Then what has come is what there is.
const DEADLINE: Duration = Duration::from_secs(5);
/// So many Events are handed on.
const MAX_EVENTS: usize = 100;

impl Context {
    /// The newest Events about some objects, as the API server has them now. What cannot be read is
    /// said beside what can.
    pub async fn read_events(&self, about: &[EventSubject]) -> EventReading {
        let until = Instant::now() + DEADLINE;
        let asked = about[..about.len().min(MAX_OBJECTS)].to_vec();
        let (mut gathered, wanted) = (Gathered::default(), asked.len());
        if let Ok(Ok(_place)) = timeout_at(until, self.event_readers.acquire()).await {
            let ask = |EventSubject { key, uid }| {
                let cluster = self.cluster().clone();
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
                "the API server has answered {} of {wanted} questions within {} s",
                gathered.answers,
                DEADLINE.as_secs()
            ));
        }
        let objects_omitted = about.len() - gathered.answers;
        EventReading { objects_omitted, ..gathered.newest_first() }
    }
}

/// What has come by now.
#[derive(Default)]
struct Gathered {
    events: Vec<ObjectEvent>,
    /// Objects of which there are more Events than are read.
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
        // What tells no time comes last, and of one moment what somebody should look at first.
        events.sort_by_key(|event| Reverse((event.last, event.is_warning)));
        let omitted = events.len().saturating_sub(MAX_EVENTS) + cut;
        events.truncate(MAX_EVENTS);
        EventReading { events, omitted, errors: errors.into_iter().collect(), objects_omitted: 0 }
    }
}
