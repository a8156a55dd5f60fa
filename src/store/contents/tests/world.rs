//! A store, the watches that feed it and the writes in flight: as `cluster::watch` and
//! `reconcile::context` use it, one step at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    super::super::{Change, ListStart, ScopeId, Settled, Store},
    server::{Event, Held, Server, Shown, number, parent, store},
};
use crate::{
    object::{Object, ObjectKey, Uid},
    schedule::dice::Dice,
};

pub(super) const PARENTS: usize = 2;

/// Where a watch stands.
#[derive(Debug)]
enum At {
    /// It has to list.
    Start,
    /// A list is asked for.
    Asked(ListStart),
    /// The server has answered: readable, not readable, version.
    Answered(ListStart, Vec<(ObjectKey, Shown)>, u64),
    /// A streamed list, as far as it has come.
    Streaming(ListStart, BTreeMap<ObjectKey, Object>, u64),
    Watching(u64),
}

struct Scope {
    id: ScopeId,
    namespace: Option<String>,
    at: At,
}

/// What the server has answered and nobody has read yet.
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
    scopes: Vec<Scope>,
    /// Each key has one write in flight at most: a parent waits for its replies.
    writes: BTreeMap<ObjectKey, Reply>,
    reads: Vec<Reply>,
    /// What somebody knows who was told of every change.
    told: HashMap<ObjectKey, Object>,
    /// The newest version that was shown of each object. (A watch that is late may show the
    /// predecessor of a namesake that has come and gone; it will show its end too.)
    newest: HashMap<Uid, u64>,
    pub(super) steps: Vec<String>,
}

impl World {
    /// With a watch for each namespace, or one for all.
    pub(super) fn new(namespaces: &[Option<&str>]) -> Self {
        let store = store();
        let scope = |namespace: &Option<&str>| {
            let namespace = namespace.map(str::to_owned);
            Scope { id: store.add_scope(namespace.clone()), namespace, at: At::Start }
        };
        let scopes = namespaces.iter().map(scope).collect();
        let (server, backup, writes, reads, told, newest, steps) = <_>::default();
        let is_restored = false;
        Self { server, store, backup, is_restored, scopes, writes, reads, told, newest, steps }
    }

    fn say(&mut self, step: String) {
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
        self.say(format!("others {what} {key} @{}", self.server.version));
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
        self.say(format!("restored to {}", self.server.version));
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
        self.say(format!("applied {key} @{}", self.server.version));
        self.writes.insert(key.clone(), Reply::Is(reply));
        true
    }

    /// A delete of what is cached, if it is what is there.
    pub(super) fn delete(&mut self, key: &ObjectKey) -> bool {
        let Some(cached) = self.store.reader().get(key) else { return false };
        let Some(live) = self.server.objects.get(key).cloned() else {
            if self.writes.contains_key(key) {
                return false;
            }
            self.say(format!("deleted, was gone {key}"));
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
        self.say(format!("deleted {key} @{}", self.server.version));
        self.writes.insert(key.clone(), reply);
        true
    }

    /// A live read, by anyone.
    pub(super) fn read(&mut self, key: &ObjectKey) -> bool {
        let Some(held) = self.server.objects.get(key) else { return false };
        if !held.is_selected || self.reads.len() >= 3 {
            return false;
        }
        let Some(Shown::Object(object)) = self.server.read(key) else { return false };
        self.say(format!("read {object:?}"));
        self.reads.push(Reply::Is(object));
        true
    }

    pub(super) fn write_answered(&mut self, key: &ObjectKey, is_lost: bool) -> bool {
        let Some(reply) = self.writes.remove(key) else { return false };
        self.say(format!("reply, lost {is_lost}: {reply:?}"));
        if !is_lost {
            self.learn(reply);
        }
        true
    }

    pub(super) fn read_answered(&mut self) -> bool {
        if self.reads.is_empty() {
            return false;
        }
        let reply = self.reads.remove(self.steps.len() % self.reads.len());
        self.say(format!("read answered: {reply:?}"));
        self.learn(reply);
        true
    }

    fn learn(&mut self, reply: Reply) {
        let change = match reply {
            Reply::Is(object) => self.store.overlay(object),
            Reply::Gone(key, uid) => self.store.bury(&key, &uid),
        };
        self.hear(change);
    }

    // === what a watch does ===

    pub(super) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// The version is too old.
    pub(super) fn expire(&mut self, scope: usize) -> bool {
        if !matches!(self.scopes[scope].at, At::Watching(_)) {
            return false;
        }
        self.say(format!("scope {scope} expired"));
        self.scopes[scope].at = At::Start;
        true
    }

    /// Begins a streamed list.
    pub(super) fn stream(&mut self, scope: usize) -> bool {
        if !matches!(self.scopes[scope].at, At::Start) {
            return false;
        }
        let start = self.store.begin_list();
        let mut objects = BTreeMap::new();
        for (key, shown) in self.server.list(self.scopes[scope].namespace.as_deref()) {
            match shown {
                Shown::Object(object) => drop(objects.insert(key, object)),
                Shown::Unreadable(object) => drop(self.store.leave_out(object)),
            }
        }
        self.say(format!("scope {scope} streams from {}", self.server.version));
        self.scopes[scope].at = At::Streaming(start, objects, self.server.version);
        true
    }

    /// The next step of a list; of a streamed one the bookmark that ends it.
    pub(super) fn list(&mut self, scope: usize) -> bool {
        let namespace = self.scopes[scope].namespace.clone();
        let at = std::mem::replace(&mut self.scopes[scope].at, At::Start);
        self.scopes[scope].at = match at {
            At::Start => At::Asked(self.store.begin_list()),
            At::Asked(start) => {
                let list = self.server.list(namespace.as_deref());
                At::Answered(start, list, self.server.version)
            }
            At::Answered(start, list, version) => {
                let mut objects = Vec::new();
                for (_, shown) in list {
                    match shown {
                        Shown::Object(object) => objects.push(object),
                        Shown::Unreadable(object) => drop(self.store.leave_out(object)),
                    }
                }
                self.take_in(scope, start, objects, version)
            }
            At::Streaming(start, objects, version) => {
                self.take_in(scope, start, objects.into_values().collect(), version)
            }
            At::Watching(version) => {
                self.scopes[scope].at = At::Watching(version);
                return false;
            }
        };
        self.say(format!("scope {scope} lists: {:?}", self.scopes[scope].at));
        true
    }

    fn take_in(&mut self, scope: usize, start: ListStart, items: Vec<Object>, at: u64) -> At {
        let id = self.scopes[scope].id;
        let (changes, settled) = self.store.replace(id, start, items, &number(at));
        if settled == Settled::WentBack {
            assert!(self.is_restored, "a backup that nobody restored: {self:#?}");
            self.newest.clear();
        }
        changes.into_iter().for_each(|change| self.hear(Some(change)));
        At::Watching(at)
    }

    /// The next event.
    pub(super) fn deliver(&mut self, scope: usize) -> bool {
        let (At::Watching(from) | At::Streaming(_, _, from)) = self.scopes[scope].at else {
            return false;
        };
        let namespace = self.scopes[scope].namespace.clone();
        let Some((version, key, event)) = self.server.next(namespace.as_deref(), from) else {
            return false;
        };
        self.say(format!("scope {scope} @{version}: {event:?}"));
        self.take(scope, version, key, event);
        true
    }

    /// As `take` of the watch loop.
    fn take(&mut self, scope: usize, version: u64, key: ObjectKey, event: Event) {
        let Scope { id, at, .. } = &mut self.scopes[scope];
        let id = *id;
        let change = match (event, at) {
            (Event::Changed(Shown::Object(object)), At::Streaming(_, objects, from)) => {
                objects.insert(key, object);
                *from = version;
                None
            }
            (Event::Deleted(Shown::Object(object)), At::Streaming(_, objects, from)) => {
                objects.remove(&key);
                *from = version;
                self.store.observe_deletion(id, &object)
            }
            (Event::Changed(Shown::Unreadable(object)), at) => {
                if let At::Streaming(_, objects, _) = at {
                    objects.remove(&key);
                }
                if let At::Watching(from) | At::Streaming(_, _, from) = at {
                    *from = version;
                }
                self.store.leave_out(object);
                None
            }
            (Event::Deleted(Shown::Unreadable(_)), at) => {
                *at = At::Start;
                None
            }
            (Event::Changed(Shown::Object(object)), at) => {
                *at = At::Watching(version);
                let uid = object.uid().to_string();
                let at = object.resource_version();
                let is_echo = self.store.observe_echo(id, object.key(), &uid, at);
                if is_echo { None } else { self.store.observe(id, object) }
            }
            (Event::Deleted(Shown::Object(object)), at) => {
                *at = At::Watching(version);
                self.store.observe_deletion(id, &object)
            }
        };
        self.hear(change);
    }

    pub(super) fn bookmark(&mut self, scope: usize) -> bool {
        let Scope { id, namespace, at } = &mut self.scopes[scope];
        let At::Watching(from) = at else { return false };
        if self.server.next(namespace.as_deref(), *from).is_some() {
            return false;
        }
        *from = self.server.version;
        self.store.bookmark(*id, &number(*from));
        true
    }

    // === what must be true ===

    fn hear(&mut self, change: Option<Change>) {
        let Some(change) = change else { return };
        let key = change.object().key().clone();
        let named = [&change.before, &change.after].into_iter().flatten();
        let named: BTreeSet<Uid> =
            named.filter_map(|it| it.label(super::server::LABEL)).map(|it| Uid::new(&it)).collect();
        assert_eq!(change.parents, named, "{self:#?}");
        let before = change.before.as_ref().map(|it| it.json().to_owned());
        let known = self.told.get(&key).map(|it| it.json().to_owned());
        assert_eq!(before, known, "not told: {self:#?}");
        match change.after {
            Some(after) => self.told.insert(key, after),
            None => self.told.remove(&key),
        };
    }

    pub(super) fn check(&mut self) {
        let reader = self.store.reader();
        let all = reader.list();
        let bytes: usize = all.iter().map(|object| object.json().len()).sum();
        assert_eq!((reader.bytes(), reader.len()), (bytes, self.told.len()), "{self:#?}");
        let texts = |objects: Vec<Object>| -> Vec<String> {
            objects.iter().map(|object| object.json().to_owned()).collect()
        };
        for number in 0..PARENTS {
            let uid = parent(number).to_string();
            let is_of = |it: &Object| it.label(super::server::LABEL).as_deref() == Some(&*uid);
            let scan = all.iter().filter(|it| is_of(it)).cloned().collect();
            assert_eq!(texts(reader.of_parent(&parent(number))), texts(scan), "{self:#?}");
        }
        for object in &all {
            let told = self.told.get(object.key()).map(Object::json);
            assert_eq!(told, Some(object.json()), "not told: {self:#?}");
            self.is_no_older(object);
        }
        assert!(self.is_restored || reader.may_delete(None) == reader.is_synced(), "{self:#?}");
    }

    fn is_no_older(&mut self, object: &Object) {
        let version: u64 = object.resource_version().to_string().parse().unwrap();
        let newest = self.newest.get(object.uid()).copied().unwrap_or_default();
        // What cannot be read may be shown as it last was.
        let is_left_out = self.store.reader().undecodable(object.key()).is_some();
        assert!(version >= newest || is_left_out, "went back: {self:#?}");
        self.newest.insert(object.uid().clone(), version.max(newest));
    }

    /// Everything arrives that is on its way, in any order; then the store is as the server is.
    pub(super) fn settle(&mut self, dice: &mut Dice) {
        let keys: Vec<ObjectKey> = self.writes.keys().cloned().collect();
        let mut is_busy = true;
        while is_busy {
            is_busy = false;
            let replies_first = dice.once_in(2);
            for round in 0..2 {
                if (round == 0) == replies_first {
                    is_busy |= self.read_answered();
                    let answered = keys.iter().any(|key| self.write_answered(key, false));
                    is_busy |= answered;
                } else {
                    for scope in 0..self.scopes() {
                        while self.deliver(scope) || self.list(scope) {
                            is_busy = true;
                            self.check();
                        }
                    }
                }
                self.check();
            }
        }
        self.is_as_the_server();
    }

    fn is_as_the_server(&self) {
        let reader = self.store.reader();
        let listed = self.server.list(None);
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for (key, shown) in &listed {
            match shown {
                Shown::Object(object) => readable.push(object.json()),
                Shown::Unreadable(_) => unreadable.push(key.clone()),
            }
        }
        let cached = reader.list();
        // One that cannot be read any more is shown as it last was, or not at all.
        let cached = cached.iter().filter(|it| !unreadable.contains(it.key()));
        assert_eq!(cached.map(Object::json).collect::<Vec<_>>(), readable, "{self:#?}");
        let left_out: Vec<_> =
            reader.left_out().iter().filter_map(|it| it.key().cloned()).collect();
        assert_eq!(left_out, unreadable, "{self:#?}");
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#?}\n{:?} {:?}", self.steps, self.store.reader().list(), self.server.objects)
    }
}
