//! The scopes that feed a store, and what the contents can be relied on for.
//!
//! A scope of all namespaces may have fallbacks, each for one namespace, that replace it while it
//! cannot be fed. They are inactive otherwise.

use super::{
    super::scope::{Feed, Hold, Scope, ScopeId, Settled},
    Contents,
};
use crate::object::{Object, ObjectKey, ResourceVersion};

// === reading ===

impl Contents {
    pub(in crate::store) fn is_scope_synced(&self, scope: ScopeId) -> bool {
        self.scopes[scope.0].is_synced
    }

    /// Whether one namespace, or for `None` all, has been listed completely.
    pub(in crate::store) fn is_synced(&self, namespace: Option<&str>) -> bool {
        self.is_covered(namespace, |scope| scope.is_synced)
    }

    pub(in crate::store) fn may_delete(&self, namespace: Option<&str>) -> bool {
        let matters = |scope: &&Scope| namespace.is_none() || scope.covers(namespace);
        self.is_covered(namespace, |scope| scope.is_synced && scope.feed == Feed::Watch)
            && self.scopes.iter().filter(matters).all(|scope| scope.hold.is_none())
    }

    pub(in crate::store) fn holds_deletions(&self) -> bool {
        self.scopes.iter().any(|scope| scope.hold.is_some())
    }

    /// The version up to which every scope is complete.
    pub(in crate::store) fn version(&self) -> Option<&ResourceVersion> {
        if let Some(everywhere) = self.everywhere() {
            return everywhere.high_water.as_ref();
        }
        let marks: Option<Vec<_>> = self.live().map(|s| s.high_water.as_ref()).collect();
        marks?
            .into_iter()
            .reduce(|oldest, mark| if mark.is_older_than(oldest) { mark } else { oldest })
    }

    pub(in crate::store) fn hold(&self, scope: ScopeId) -> Option<Hold> {
        self.scopes[scope.0].hold
    }

    /// Whether the scopes of a namespace, or for `None` of all, satisfy a condition.
    fn is_covered(&self, namespace: Option<&str>, is_good: impl Fn(&Scope) -> bool) -> bool {
        match (namespace, self.everywhere()) {
            (Some(_), _) => self.scopes.iter().any(|it| it.covers(namespace) && is_good(it)),
            (None, Some(everywhere)) => is_good(everywhere),
            (None, None) => self.live().next().is_some() && self.live().all(is_good),
        }
    }

    /// While another one takes over, it is the earlier one.
    fn everywhere(&self) -> Option<&Scope> {
        self.live().find(|scope| scope.namespace.is_none())
    }

    fn live(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().filter(|scope| !scope.is_ended())
    }
}

// === changing ===

impl Contents {
    pub(in crate::store) fn add_scope(&mut self, namespace: Option<String>) -> ScopeId {
        if let Some(namespace) = namespace.as_deref() {
            let here = self.objects().filter(|object| object.namespace() == Some(namespace));
            let present = here.count();
            self.census.begin(namespace, present);
        }
        self.scopes.push(Scope::new(namespace));
        ScopeId(self.scopes.len() - 1)
    }

    pub(in crate::store) fn add_successor(
        &mut self,
        namespace: Option<String>,
        earlier: Vec<ScopeId>,
    ) -> ScopeId {
        let scope = self.add_scope(namespace);
        self.scopes[scope.0].successor_of = earlier;
        scope
    }

    /// Objects that no other scope covers are dropped; nobody is to be notified.
    pub(in crate::store) fn end_scope(&mut self, scope: ScopeId) {
        let namespace = self.scopes[scope.0].namespace.take();
        self.scopes[scope.0] = Scope { feed: Feed::Ended, ..Scope::new(namespace) };
        if self.everywhere().is_some() {
            return;
        }
        let is_covered = |object: &Object| self.live().any(|it| it.covers(object.namespace()));
        let dropped = self.objects().filter(|object| !is_covered(object));
        let dropped: Vec<ObjectKey> = dropped.map(|object| object.key().clone()).collect();
        for key in dropped {
            self.remove(&key);
        }
    }

    pub(in crate::store) fn rest(&mut self, scope: ScopeId) {
        let scope = &mut self.scopes[scope.0];
        (scope.feed, scope.is_synced, scope.shows_all) = (Feed::Another, false, false);
    }

    pub(in crate::store) fn use_fallback(&mut self, scope: ScopeId) {
        if let Some(known) = self.everywhere().map(Scope::marks) {
            self.scopes[scope.0].use_fallback(&known);
        }
    }

    pub(in crate::store) fn release_deletions(&mut self, hold: Hold) {
        for scope in &mut self.scopes {
            scope.hold = scope.hold.filter(|latest| *latest != hold);
        }
    }

    pub(in crate::store) fn cut_off(&mut self, scope: ScopeId, is_cut_off: bool) {
        let feed = &mut self.scopes[scope.0].feed;
        if let Feed::Watch | Feed::CutOff = feed {
            *feed = if is_cut_off { Feed::CutOff } else { Feed::Watch };
        }
    }

    pub(in crate::store) fn has_gone_back(&mut self, scope: ScopeId) {
        self.scopes[scope.0].seen = Settled::VersionRegressed;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Object, ResourceVersion},
        store::Store,
    };

    fn ty() -> K8sType {
        K8sType::namespaced("v1", "ConfigMap", "configmaps")
    }

    /// A store with a scope of all namespaces, and an inactive one of `a`.
    fn store() -> (Store, ScopeId, ScopeId) {
        let store = Store::new(ty(), BTreeSet::new());
        let [all, a] = [None, Some("a".to_owned())].map(|namespace| store.add_scope(namespace));
        store.rest(a);
        (store, all, a)
    }

    fn object(namespace: &str, version: u64) -> Object {
        let metadata = json!({
            "name": "x", "namespace": namespace, "uid": version.to_string(),
            "resourceVersion": version.to_string(),
        });
        let (ty, managers) = (ty(), KeptManagers::default());
        Object::from_value(&ty, &json!({"metadata": metadata}), &managers).unwrap()
    }

    fn list(store: &Store, scope: ScopeId, version: u64) -> Settled {
        let start = store.begin_list(scope);
        store.replace(scope, start, Vec::new(), &ResourceVersion::Number(version)).1
    }

    /// Whether something may be deleted in `a`, in `b`, and anywhere.
    fn may_delete(store: &Store) -> [bool; 3] {
        [Some("a"), Some("b"), None].map(|namespace| store.reader().may_delete(namespace))
    }

    #[test]
    fn a_fallback_scope_covers_its_namespace_only() {
        let (store, all, a) = store();
        assert_eq!(may_delete(&store), [false; 3]);
        list(&store, all, 5);
        assert_eq!(may_delete(&store), [true; 3], "inactive scopes do not count");
        store.cut_off(all, true);
        store.use_fallback(a);
        assert_eq!(may_delete(&store), [false; 3], "it knows nothing yet");
        list(&store, a, 7);
        assert_eq!(may_delete(&store), [true, false, false]);
        assert_eq!(store.reader().version(), Some(ResourceVersion::Number(5)), "of all");
        store.cut_off(all, false);
        store.rest(a);
        assert_eq!(may_delete(&store), [true; 3]);
        list(&store, a, 8);
        store.cut_off(all, true);
        assert_eq!(may_delete(&store), [false; 3], "a late list does not count");
    }

    #[test]
    fn a_fallback_scope_detects_a_regression_and_passes_it_on() {
        let (store, all, a) = store();
        list(&store, all, 50);
        store.cut_off(all, true);
        store.use_fallback(a);
        assert_eq!(list(&store, a, 40), Settled::VersionRegressed);
        assert_eq!(may_delete(&store), [false; 3]);
        assert!(store.overlay(object("a", 45)).is_some(), "not older than the new history");
        assert_eq!(
            list(&store, all, 60),
            Settled::VersionRegressed,
            "the other objects are of the lost history"
        );
        store.cut_off(all, false);
        store.rest(a);
        assert_eq!(may_delete(&store), [false; 3], "both hold deletions");
        store.release_deletions(store.hold(all).unwrap());
        assert_eq!(may_delete(&store), [false, true, false]);
        store.release_deletions(store.hold(a).unwrap());
        store.has_gone_back(all);
        list(&store, all, 30);
        assert!(store.overlay(object("a", 35)).is_some(), "inactive scopes do not count");
        store.release_deletions(store.hold(all).unwrap());
        assert_eq!(may_delete(&store), [true; 3]);
    }

    #[test]
    fn a_scope_ends_with_the_first_list_of_its_successor_and_shows_nothing_more() {
        let store = Store::new(ty(), BTreeSet::new());
        let earlier = store.add_scope(None);
        list(&store, earlier, 5);
        assert!(store.observe(earlier, object("a", 6)).is_some());
        let next = store.add_successor(None, vec![earlier]);
        assert_eq!(may_delete(&store), [true; 3], "the earlier one is complete");
        let start = store.begin_list(next);
        let items = vec![object("a", 6), object("b", 4)];
        store.replace(next, start, items, &ResourceVersion::Number(7));
        assert_eq!(may_delete(&store), [true; 3]);
        // It left the earlier selector only.
        assert!(store.observe_deletion(earlier, &object("a", 6)).is_none());
        assert!(store.observe(earlier, object("c", 8)).is_none());
        assert_eq!(list(&store, earlier, 9), Settled::Continued);
        store.cut_off(earlier, true);
        assert_eq!((store.reader().len(), may_delete(&store)), (2, [true; 3]));
    }

    #[test]
    fn objects_that_no_scope_covers_any_more_are_dropped() {
        let store = Store::new(ty(), BTreeSet::new());
        let [a, b] = ["a", "b"].map(|namespace| store.add_scope(Some(namespace.to_owned())));
        for (scope, namespace) in [(a, "a"), (b, "b")] {
            list(&store, scope, 5);
            assert!(store.observe(scope, object(namespace, 6)).is_some());
        }
        store.end_scope(b);
        assert_eq!(store.reader().len(), 1);
        assert_eq!(may_delete(&store), [true, false, true], "only the first one counts");
        store.end_scope(a);
        assert_eq!((store.reader().len(), may_delete(&store)), (0, [false; 3]));
    }
}
