//! A store, the watches that feed it and the writes in flight: as `cluster::watch` and
//! `execute::snapshot` use it, one step at a time.

mod truth;
mod watches;

use std::collections::{BTreeMap, HashMap};

use super::{
    super::super::{ListStart, ScopeId, Store},
    server::{Held, Server, Shown, Watch, number, store},
};
use crate::object::{Object, ObjectKey, Uid};

pub(super) const PARENTS: usize = 2;

const SELECTOR: &str = "selected=yes";

/// The state of a watch.
#[derive(Debug)]
enum At {
    /// It has to list.
    Start,
    /// A list is requested.
    Asked(ListStart),
    /// The server has answered: objects and version.
    Answered(ListStart, Vec<(ObjectKey, Shown)>, u64),
    /// A streamed list in progress.
    Streaming(ListStart, BTreeMap<ObjectKey, Object>, u64),
    Watching(u64),
}

struct Scope {
    id: ScopeId,
    watch: Watch,
    at: At,
}

/// A response of the server that is not processed yet.
#[derive(Debug, Clone)]
enum Reply {
    Is(Object),
    Gone(ObjectKey, Uid),
}

pub(super) struct World {
    pub(super) server: Server,
    pub(super) store: Store,
    backup: Server,
    is_restored: bool,
    is_wide: bool,
    scopes: Vec<Scope>,
    /// Each key has one write in flight at most: a parent waits for its replies.
    writes: BTreeMap<ObjectKey, Reply>,
    reads: Vec<Reply>,
    /// The objects according to the changes that were reported.
    reported: HashMap<ObjectKey, Object>,
    /// The newest version that was shown of each object. (A watch that is late may show the
    /// predecessor of a namesake that has come and gone; it will show its end too.)
    newest: HashMap<Uid, u64>,
    pub(super) steps: Vec<String>,
}

impl World {
    /// With a watch for each namespace, or one for all, or both.
    pub(super) fn new(namespaces: &[Option<&str>]) -> Self {
        let store = store();
        let scope = |namespace: Option<&str>| {
            let watch = Watch { namespace: namespace.map(str::to_owned), is_wide: false };
            let id = store.add_selecting_scope(watch.namespace.clone(), Some(SELECTOR.to_owned()));
            Scope { id, watch, at: At::Start }
        };
        let scopes = namespaces.iter().copied().map(scope).collect();
        let (server, backup, writes, reads, reported, newest, steps) = <_>::default();
        let (is_restored, is_wide) = (false, false);
        Self {
            server,
            store,
            backup,
            is_restored,
            is_wide,
            scopes,
            writes,
            reads,
            reported,
            newest,
            steps,
        }
    }

    /// Each watch is replaced by one without the selector. It continues until that is listed, or longer.
    pub(super) fn widen(&mut self) -> bool {
        if std::mem::replace(&mut self.is_wide, true) {
            return false;
        }
        let earlier: Vec<(ScopeId, Option<String>)> =
            self.scopes.iter().map(|it| (it.id, it.watch.namespace.clone())).collect();
        for (_, namespace) in &earlier {
            let is_covered = |other: &Option<String>| namespace.is_none() || other == namespace;
            let replaced = earlier.iter().filter(|(_, other)| is_covered(other));
            let replaced = replaced.map(|(id, _)| *id).collect();
            let id = self.store.add_successor(namespace.clone(), None, replaced);
            let watch = Watch { namespace: namespace.clone(), is_wide: true };
            self.scopes.push(Scope { id, watch, at: At::Start });
        }
        self.log("the watches are widened".to_owned());
        true
    }

    fn log(&mut self, step: String) {
        self.steps.push(step);
    }

    // === what others do ===

    pub(super) fn others(&mut self, key: &ObjectKey, what: usize) -> bool {
        let before = self.server.objects.get(key).cloned();
        let fresh = self.server.created(what % PARENTS);
        let after = match (what, before) {
            (0, None) => Some(Some(fresh)),
            (0, Some(held)) if !held.has_finalizer => Some(None),
            (0, Some(held)) => Some(Some(Held { is_deleting: true, ..held })),
            (1, Some(held)) => Some(Some(Held { is_selected: !held.is_selected, ..held })),
            (2, Some(held)) => Some(Some(Held { is_readable: !held.is_readable, ..held })),
            (3, Some(held)) if held.is_deleting => Some(None),
            (3, Some(held)) => Some(Some(Held { has_finalizer: true, ..held })),
            (4, Some(held)) => Some(Some(Held { parent: (held.parent + 1) % PARENTS, ..held })),
            _ => None,
        };
        let Some(after) = after else { return false };
        self.server.write(key, |_| after);
        self.log(format!("others {what} {key} @{}", self.server.version));
        true
    }

    pub(super) fn back_up(&mut self) {
        self.backup = self.server.clone();
    }

    /// Every connection ends with it.
    pub(super) fn restore(&mut self, is_bumped: bool) {
        self.server.restore(&self.backup.clone(), is_bumped);
        self.is_restored = true;
        self.newest.clear();
        self.writes.clear();
        self.reads.clear();
        self.log(format!("restored to {}", self.server.version));
        for scope in 0..self.scopes.len() {
            self.scopes[scope].at = At::Start;
            self.list(scope);
            self.list(scope);
        }
    }

    // === what we do ===

    /// An apply: it creates or updates what is cached.
    pub(super) fn apply(&mut self, key: &ObjectKey) -> bool {
        let cached = self.store.reader().get(key);
        let live = self.server.objects.get(key).cloned();
        if self.writes.contains_key(key) || live.as_ref().is_some_and(|it| !it.is_readable) {
            return false;
        }
        let after = match (cached, live) {
            (None, None) => self.server.created(0),
            (Some(cached), Some(live)) if *cached.uid() == *live.uid => {
                Held { is_selected: true, ..live }
            }
            _ => return false,
        };
        self.server.write(key, |_| Some(after));
        let Some(Shown::Object(reply)) = self.server.read(key) else { return false };
        self.log(format!("applied {key} @{}", self.server.version));
        self.writes.insert(key.clone(), Reply::Is(reply));
        true
    }

    /// A delete of the cached object, if it is the live one.
    pub(super) fn delete(&mut self, key: &ObjectKey) -> bool {
        let Some(cached) = self.store.reader().get(key) else { return false };
        let Some(live) = self.server.objects.get(key).cloned() else {
            if self.writes.contains_key(key) {
                return false;
            }
            self.log(format!("deleted, was gone {key}"));
            self.writes.insert(key.clone(), Reply::Gone(key.clone(), cached.uid().clone()));
            return true;
        };
        let is_it =
            *cached.uid() == *live.uid && *cached.resource_version() == number(live.version);
        if self.writes.contains_key(key) || !is_it {
            return false;
        }
        let rest = live.has_finalizer.then_some(Held { is_deleting: true, ..live });
        self.server.write(key, |_| rest);
        let reply = match self.server.read(key) {
            Some(Shown::Object(object)) => Reply::Is(object),
            _ => Reply::Gone(key.clone(), cached.uid().clone()),
        };
        self.log(format!("deleted {key} @{}", self.server.version));
        self.writes.insert(key.clone(), reply);
        true
    }

    /// A live read.
    pub(super) fn read(&mut self, key: &ObjectKey) -> bool {
        let Some(held) = self.server.objects.get(key) else { return false };
        if !(held.is_selected || self.is_wide) || self.reads.len() >= 3 {
            return false;
        }
        let Some(Shown::Object(object)) = self.server.read(key) else { return false };
        self.log(format!("read {object:?}"));
        self.reads.push(Reply::Is(object));
        true
    }

    pub(super) fn write_answered(&mut self, key: &ObjectKey, is_lost: bool) -> bool {
        let Some(reply) = self.writes.remove(key) else { return false };
        self.log(format!("reply, lost {is_lost}: {reply:?}"));
        if !is_lost {
            self.cache_reply(reply);
        }
        true
    }

    pub(super) fn read_answered(&mut self) -> bool {
        if self.reads.is_empty() {
            return false;
        }
        let reply = self.reads.remove(self.steps.len() % self.reads.len());
        self.log(format!("read answered: {reply:?}"));
        self.cache_reply(reply);
        true
    }

    fn cache_reply(&mut self, reply: Reply) {
        let change = match reply {
            Reply::Is(object) => self.store.overlay(object),
            Reply::Gone(key, uid) => self.store.mark_deleted(&key, &uid),
        };
        self.report(change);
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#?}\n{:?} {:?}", self.steps, self.store.reader().list(), self.server.objects)
    }
}
