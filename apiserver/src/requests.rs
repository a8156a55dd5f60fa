//! The requests that the server received, for tests that assert them, such as "one watch of Pods".
//!
//! Keeps the newest requests up to a limit, and the watches that are open now.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many bytes the answered requests take at most.
const SPACE: usize = 32 << 20;

/// One answered request.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The HTTP status of the answer.
    pub status: u16,
}

/// One watch that is open now.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

#[derive(Debug, Default)]
struct State {
    answered: VecDeque<RequestRecord>,
    space: usize,
    open: BTreeMap<u64, WatchRecord>,
    next_id: u64,
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
    fn space(&self) -> usize {
        let Self { method, path, query, user_agent, user, verb, resource, status: _ } = self;
        let texts = [method, path, query, user_agent, user, verb, resource];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

impl Requests {
    /// A log of at most `capacity` requests.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity }
    }

    /// The newest requests, oldest first.
    pub(crate) fn answered(&self) -> Vec<RequestRecord> {
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

    /// Records an answered request.
    pub(crate) fn record(&self, record: RequestRecord) {
        let mut state = self.lock();
        state.space += record.space();
        state.answered.push_back(record);
        while state.answered.len() > self.capacity || state.space > SPACE {
            let Some(oldest) = state.answered.pop_front() else { return };
            state.space -= oldest.space();
        }
    }

    /// Records an opened watch.
    pub(crate) fn opened(self: &Arc<Self>, record: WatchRecord) -> OpenWatch {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.open.insert(id, record);
        OpenWatch { requests: Arc::clone(self), id }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.requests.lock().open.remove(&self.id);
    }
}
