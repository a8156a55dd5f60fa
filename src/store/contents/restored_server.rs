//! A server that was restored from a backup: how a list shows it, and what the store forgets then.

use super::{
    super::{
        departed::Departed,
        scope::{Hold, ScopeId, Settled},
    },
    Contents,
};
use crate::object::{Object, ResourceVersion};

impl Contents {
    /// Whether a check for a scope that this one replaces has shown that the server went back.
    pub(super) fn has_an_earlier_seen(&self, scope: ScopeId) -> bool {
        let earlier = self.scopes.get(scope).into_iter().flat_map(|scope| &scope.successor_of);
        let mut earlier = earlier.filter_map(|id| self.scopes.get(*id));
        earlier.any(|earlier| earlier.seen == Settled::VersionRegressed)
    }

    /// Forgets the lost history, and holds deletions in the scope. Overlapping scopes are listed
    /// again.
    pub(super) fn reset(&mut self, scope: ScopeId) {
        self.tombstones.clear();
        self.departed = Departed::default();
        self.holds += 1;
        for (id, other) in self.scopes.iter_mut() {
            if id == scope {
                other.hold = Some(Hold(self.holds));
                (other.high_water, other.replied) = (None, None);
            } else if other.namespace.is_none() {
                (other.seen, other.shows_all) = (Settled::VersionRegressed, false);
            }
        }
    }

    /// Whether a list, or one of its objects, is older than the cache. The versions of a
    /// restored server may continue (`etcdutl snapshot restore --bump-revision`). Then only its
    /// objects show that they are from the backup: a list that is at least as new as a known
    /// version of an object cannot contain an older one.
    pub(super) fn has_regressed(
        &self,
        scope: ScopeId,
        items: &[Object],
        version: &ResourceVersion,
    ) -> bool {
        let Some(scope) = self.scopes.get(scope) else { return false };
        let is_regressed = |item: &Object| {
            let cached = self.get(item.key()).map(Object::resource_version);
            let departure = self.departed.departure(item.uid(), |it| scope.selects_by(it));
            let mut known = cached.into_iter().chain(departure);
            known.any(|known| {
                item.resource_version().is_older_than(known) && !version.is_older_than(known)
            })
        };
        scope.is_behind(version) || items.iter().any(is_regressed)
    }
}
