//! The requests that the server received, for tests that assert them, such as "one watch of Pods".
//!
//! Keeps the newest requests up to a limit, and the watches that are open now. Whoever has seen an effect of a
//! request finds it in the log: a read waits for the requests that are in progress.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

/// How many bytes the answered requests take at most.
const SPACE: usize = 32 << 20;

/// One answered request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestRecord {
    /// The HTTP method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The query string.
    pub query: String,
    /// The client.
    pub user_agent: String,
    /// The user who sent it, also on behalf of another one.
    pub user: String,
    /// The verb as Kubernetes spells it (`get`, `list`, `watch`, `create`, `update`, `patch`,
    /// `delete`); empty for paths that are not resources.
    pub verb: String,
    /// The resource with its group, `deployments.apps`; empty for other paths.
    pub resource: String,
    /// The HTTP status of the answer; 0 when the client left before it.
    pub status: u16,
}

/// One watch that is open now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchRecord {
    /// The resource with its group.
    pub resource: String,
    /// The path.
    pub path: String,
    /// The query string.
    pub query: String,
    /// The client.
    pub user_agent: String,
}

/// The log of requests.
#[derive(Debug)]
pub(crate) struct Requests {
    state: Mutex<State>,
    capacity: usize,
    /// All requests with a lower id are recorded.
    recorded_below: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    answered: VecDeque<RequestRecord>,
    space: usize,
    counts: BTreeMap<Counted, u64>,
    in_progress: BTreeSet<u64>,
    open: BTreeMap<u64, WatchRecord>,
    next_id: u64,
}

/// What requests are counted by.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Counted {
    /// As in [`RequestRecord`]; for paths that are no resources the method, if it is a usual one.
    pub verb: String,
    /// The resource with its group.
    pub resource: String,
    /// The HTTP status of the answer.
    pub code: u16,
}

/// A request that is not recorded yet. It is when this is dropped, also with the future that answers it.
#[derive(Debug)]
pub(crate) struct InProgress {
    /// What is recorded.
    pub record: RequestRecord,
    requests: Arc<Requests>,
    id: u64,
}

/// Keeps a watch in the list of open ones until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenWatch {
    requests: Arc<Requests>,
    id: u64,
}

impl RequestRecord {
    /// Whether the request could have changed something.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }
}

impl RequestRecord {
    fn counted(&self) -> Counted {
        let Self { method, verb, resource, status, .. } = self;
        let is_usual = matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE");
        let verb = match verb.as_str() {
            "" if is_usual => method.to_lowercase(),
            verb => verb.to_owned(),
        };
        Counted { verb, resource: resource.clone(), code: *status }
    }

    fn space(&self) -> usize {
        let Self { method, path, query, user_agent, user, verb, resource, status: _ } = self;
        let texts = [method, path, query, user_agent, user, verb, resource];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

impl Requests {
    /// A log of at most `capacity` requests.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity, recorded_below: watch::Sender::new(0) }
    }

    /// The newest requests, oldest first, once those are recorded that were in progress at the call.
    pub(crate) async fn answered(&self) -> Vec<RequestRecord> {
        let newest = self.lock().in_progress.last().copied();
        if let Some(newest) = newest {
            // It cannot be dropped while this waits.
            let _ = self.recorded_below.subscribe().wait_for(|id| *id > newest).await;
        }
        self.lock().answered.iter().cloned().collect()
    }

    /// Forgets answered requests.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        state.answered.clear();
        state.space = 0;
    }

    /// The watches that are open now, in the order of their opening.
    pub(crate) fn open(&self) -> Vec<WatchRecord> {
        self.lock().open.values().cloned().collect()
    }

    /// How many requests were answered.
    pub(crate) fn counts(&self) -> BTreeMap<Counted, u64> {
        self.lock().counts.clone()
    }

    /// Begins a request, which must be before anything of it takes effect.
    pub(crate) fn begin(self: &Arc<Self>, record: RequestRecord) -> InProgress {
        let mut state = self.lock();
        let id = state.new_id();
        state.in_progress.insert(id);
        InProgress { record, requests: Arc::clone(self), id }
    }

    /// Records an opened watch.
    pub(crate) fn opened(self: &Arc<Self>, record: WatchRecord) -> OpenWatch {
        let mut state = self.lock();
        let id = state.new_id();
        state.open.insert(id, record);
        OpenWatch { requests: Arc::clone(self), id }
    }

    fn end(&self, id: u64, record: RequestRecord) {
        let counted = record.counted();
        let mut state = self.lock();
        *state.counts.entry(counted).or_default() += 1;
        state.push(record, self.capacity);
        state.in_progress.remove(&id);
        let first = state.in_progress.first().copied().unwrap_or(state.next_id);
        self.recorded_below.send_if_modified(|below| std::mem::replace(below, first) != first);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn push(&mut self, record: RequestRecord, capacity: usize) {
        self.space += record.space();
        self.answered.push_back(record);
        while self.answered.len() > capacity || self.space > SPACE {
            let Some(oldest) = self.answered.pop_front() else { return };
            self.space -= oldest.space();
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.requests.end(self.id, std::mem::take(&mut self.record));
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.requests.lock().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures::FutureExt;
    use http::Request;

    use super::*;
    use crate::Server;

    fn named(path: &str) -> RequestRecord {
        RequestRecord { path: path.to_owned(), ..RequestRecord::default() }
    }

    fn paths(answered: &[RequestRecord]) -> Vec<&str> {
        answered.iter().map(|record| record.path.as_str()).collect()
    }

    #[tokio::test]
    async fn a_read_waits_for_the_requests_that_began_before_it_and_for_no_others() {
        let requests = Arc::new(Requests::new(10));
        let (first, second) = (requests.begin(named("/1")), requests.begin(named("/2")));
        let mut read = Box::pin(requests.answered());
        assert_eq!(read.as_mut().now_or_never(), None);
        drop(second);
        assert_eq!(read.as_mut().now_or_never(), None);
        let _third = requests.begin(named("/3"));
        drop(first);
        assert_eq!(paths(&read.await), ["/2", "/1"]);
    }

    #[tokio::test]
    async fn an_open_watch_delays_no_read() {
        let requests = Arc::new(Requests::new(10));
        let begun = requests.begin(named("/watch"));
        let _open = requests.opened(WatchRecord::default());
        drop(begun);
        assert_eq!(paths(&requests.answered().await), ["/watch"]);
    }

    #[tokio::test]
    async fn a_request_whose_client_leaves_is_recorded_without_a_status() {
        let server = Server::start();
        let later = format!("/api/v1/namespaces?resourceVersion={}", server.resource_version() + 9);
        let request = Request::get(later).body(Bytes::new()).unwrap();
        let mut answer = Box::pin(server.handle(request));
        assert!(answer.as_mut().now_or_never().is_none());
        assert!(server.requests().now_or_never().is_none());
        drop(answer);
        let last = server.requests().await.pop().unwrap();
        assert_eq!((last.verb.as_str(), last.resource.as_str()), ("list", "namespaces"));
        assert_eq!(last.status, 0);
    }
}
