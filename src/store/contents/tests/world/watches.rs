//! The steps of a watch, as in `cluster::watch`.

use std::collections::BTreeMap;

use super::{
    super::{
        super::super::{ListStart, Settled},
        server::{Event, Shown, number},
    },
    At, Scope, World,
};
use crate::object::{Object, ObjectKey};

impl World {
    pub(in crate::store::contents::tests) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// The version is too old.
    pub(in crate::store::contents::tests) fn expire(&mut self, scope: usize) -> bool {
        if !matches!(self.scopes[scope].at, At::Watching(_)) {
            return false;
        }
        self.log(format!("scope {scope} expired"));
        self.scopes[scope].at = At::Start;
        true
    }

    /// Begins a streamed list.
    pub(in crate::store::contents::tests) fn stream(&mut self, scope: usize) -> bool {
        if !matches!(self.scopes[scope].at, At::Start) {
            return false;
        }
        let id = self.scopes[scope].id;
        let start = self.store.begin_list(id);
        let mut objects = BTreeMap::new();
        for (key, shown) in self.server.list(&self.scopes[scope].watch) {
            match shown {
                Shown::Object(object) => drop(objects.insert(key, object)),
                Shown::Unreadable(object) => {
                    let _ = self.store.mark_undecodable_by(id, object);
                }
            }
        }
        self.log(format!("scope {scope} streams from {}", self.server.version));
        self.scopes[scope].at = At::Streaming(start, objects, self.server.version);
        true
    }

    /// The next step of a list; of a streamed one the bookmark that ends it.
    pub(in crate::store::contents::tests) fn list(&mut self, scope: usize) -> bool {
        let (id, watch) = (self.scopes[scope].id, self.scopes[scope].watch.clone());
        let at = std::mem::replace(&mut self.scopes[scope].at, At::Start);
        self.scopes[scope].at = match at {
            At::Start => At::Asked(self.store.begin_list(id)),
            At::Asked(start) => {
                let list = self.server.list(&watch);
                At::Answered(start, list, self.server.version)
            }
            At::Answered(start, list, version) => {
                let mut objects = Vec::new();
                for (_, shown) in list {
                    match shown {
                        Shown::Object(object) => objects.push(object),
                        Shown::Unreadable(object) => {
                            let _ = self.store.mark_undecodable_by(id, object);
                        }
                    }
                }
                self.replace(scope, start, objects, version)
            }
            At::Streaming(start, objects, version) => {
                self.replace(scope, start, objects.into_values().collect(), version)
            }
            At::Watching(version) => {
                self.scopes[scope].at = At::Watching(version);
                return false;
            }
        };
        self.log(format!("scope {scope} lists: {:?}", self.scopes[scope].at));
        true
    }

    fn replace(&mut self, scope: usize, start: ListStart, items: Vec<Object>, at: u64) -> At {
        let id = self.scopes[scope].id;
        let (changes, settled) = self.store.replace(id, start, items, &number(at));
        if settled == Settled::VersionRegressed {
            assert!(self.is_restored, "a backup that nobody restored: {self:#?}");
            self.newest.clear();
        }
        for change in changes {
            self.report(Some(change));
        }
        At::Watching(at)
    }

    /// The next event.
    pub(in crate::store::contents::tests) fn deliver(&mut self, scope: usize) -> bool {
        let (At::Watching(from) | At::Streaming(_, _, from)) = self.scopes[scope].at else {
            return false;
        };
        let watch = &self.scopes[scope].watch;
        let Some((version, key, event)) = self.server.next(watch, from) else {
            return false;
        };
        self.log(format!("scope {scope} @{version}: {event:?}"));
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
                self.store.observe_deletion_within_list(id, &object)
            }
            (Event::Changed(Shown::Unreadable(object)), at) => {
                if let At::Streaming(_, objects, _) = at {
                    objects.remove(&key);
                }
                if let At::Watching(from) | At::Streaming(_, _, from) = at {
                    *from = version;
                }
                self.store.mark_undecodable_by(id, object);
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
        self.report(change);
    }

    pub(in crate::store::contents::tests) fn bookmark(&mut self, scope: usize) -> bool {
        let Scope { id, watch, at } = &mut self.scopes[scope];
        let At::Watching(from) = at else { return false };
        if self.server.next(watch, *from).is_some() {
            return false;
        }
        *from = self.server.version;
        self.store.bookmark(*id, &number(*from));
        true
    }
}
