//! The invariants of a store after each step, and once everything has arrived.

use std::collections::BTreeSet;

use super::{
    super::{
        super::super::Change,
        server::{self, Shown, Watch, parent},
    },
    PARENTS, World,
};
use crate::{
    object::{Object, ObjectKey, Uid},
    schedule::rng::SeededRng,
};

impl World {
    pub(in crate::store::contents::tests) fn report(&mut self, change: Option<Change>) {
        let Some(change) = change else { return };
        let key = change.object().key().clone();
        let named = [&change.before, &change.after].into_iter().flatten();
        let named: BTreeSet<Uid> =
            named.filter_map(|it| it.label(server::LABEL)).map(|it| Uid::new(&it)).collect();
        assert_eq!(change.parents, named, "{self:#?}");
        let before = change.before.as_ref().map(|it| it.json().into_owned());
        let known = self.reported.get(&key).map(|it| it.json().into_owned());
        assert_eq!(before, known, "not reported: {self:#?}");
        match change.after {
            Some(after) => self.reported.insert(key, after),
            None => self.reported.remove(&key),
        };
    }

    pub(in crate::store::contents::tests) fn check(&mut self) {
        let reader = self.store.reader();
        let all = reader.list();
        let bytes: usize = all.iter().map(|object| object.json().len()).sum();
        assert_eq!((reader.bytes(), reader.len()), (bytes, self.reported.len()), "{self:#?}");
        let texts = |objects: Vec<Object>| -> Vec<String> {
            objects.iter().map(|object| object.json().into_owned()).collect()
        };
        for number in 0..PARENTS {
            let uid = parent(number).to_string();
            let is_of = |it: &Object| it.label(server::LABEL).as_deref() == Some(&*uid);
            let scan = all.iter().filter(|it| is_of(it)).cloned().collect();
            assert_eq!(texts(reader.of_parent(&parent(number))), texts(scan), "{self:#?}");
        }
        for object in &all {
            let reported = self.reported.get(object.key()).map(Object::json);
            assert_eq!(reported, Some(object.json()), "not reported: {self:#?}");
            self.is_no_older(object);
        }
        assert!(self.is_restored || reader.may_delete(None) == reader.is_synced(), "{self:#?}");
    }

    fn is_no_older(&mut self, object: &Object) {
        let version: u64 = object.resource_version().to_string().parse().unwrap();
        let newest = self.newest.get(object.uid()).copied().unwrap_or_default();
        // An undecodable object may be shown in its last version.
        let is_undecodable = self.store.reader().undecodable_at(object.key()).is_some();
        assert!(version >= newest || is_undecodable, "went back: {self:#?}");
        self.newest.insert(object.uid().clone(), version.max(newest));
    }

    /// Processes all pending events and replies in any order; then the store is in the server's
    /// state.
    pub(in crate::store::contents::tests) fn settle(&mut self, rng: &mut SeededRng) {
        let keys: Vec<ObjectKey> = self.writes.keys().cloned().collect();
        let mut is_busy = true;
        while is_busy {
            is_busy = false;
            let replies_first = rng.once_in(2);
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
        let listed = self.server.list(&Watch { namespace: None, is_wide: self.is_wide });
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for (key, shown) in &listed {
            match shown {
                Shown::Object(object) => readable.push(object.json()),
                Shown::Unreadable(_) => unreadable.push(key.clone()),
            }
        }
        let cached = reader.list();
        // An object that became undecodable is shown in its last version, or not at all.
        let cached = cached.iter().filter(|it| !unreadable.contains(it.key()));
        assert_eq!(cached.map(Object::json).collect::<Vec<_>>(), readable, "{self:#?}");
        let undecodable: Vec<_> =
            reader.undecodable().iter().filter_map(|it| it.key().cloned()).collect();
        assert_eq!(undecodable, unreadable, "{self:#?}");
    }
}
