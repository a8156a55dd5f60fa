//! The types that are watched: a store and a reflector each.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, RwLock},
};

use crate::{
    actors::{Awaited, BacklogRecipient, Observed, OperatorHandle, ReflectorHandle},
    cluster::WatchSpec,
    execute::Gone,
    object::K8sType,
    operator::OperatorName,
    store::{Revisions, Store, StoreReader},
    supervisor::{
        demand::{Demand, Watches},
        wiring::Wiring,
    },
};

/// The watched types, and the demand that they follow.
#[derive(Default)]
pub(super) struct Types {
    by_type: BTreeMap<K8sType, Watching>,
    /// Shared by all stores, so that a reconcile reads them at one moment.
    revisions: Revisions,
    demand: Demand,
    pub(super) watched: Watched,
}

struct Watching {
    store: Store,
    reflector: ReflectorHandle,
    gone: Gone,
}

/// The current watches with their stores, for tests that compare them with the server. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Watched(Arc<RwLock<Vec<(WatchSpec, StoreReader)>>>);

impl Types {
    pub(super) fn demand(&self) -> &Demand {
        &self.demand
    }

    pub(super) fn watches(&self) -> Watches {
        self.demand.watches()
    }

    pub(super) fn is_watched(&self, ty: &K8sType) -> bool {
        self.by_type.contains_key(ty)
    }

    /// Opens, changes and closes watches. Of the types of `reread` that are watched all objects are listed again.
    /// Returns the types that nobody needs any more.
    pub(super) fn follow(
        &mut self,
        demand: Demand,
        (labels, reread): (&BTreeSet<String>, &BTreeSet<K8sType>),
        wiring: &Wiring,
    ) -> Vec<(K8sType, Gone)> {
        let (difference, mut watches) = (demand.since(&self.demand), demand.watches());
        for label in labels {
            self.by_type.values().for_each(|watching| watching.store.add_parent_label(label));
        }
        wiring.announce_types(&difference.opened.iter().collect::<Vec<_>>());
        let again = reread.iter().filter(|ty| self.is_watched(ty));
        let changed: BTreeSet<K8sType> = again.chain(&difference.changed).cloned().collect();
        for ty in difference.opened {
            let store = Store::sharing(&self.revisions, ty.clone(), labels.clone());
            let scopes = watches.remove(&ty).unwrap_or_default();
            let (reflector, gone) = wiring.start_reflector(&store, scopes);
            self.by_type.insert(ty, Watching { store, reflector, gone });
        }
        for ty in changed {
            if let (Some(watching), Some(scopes)) = (self.by_type.get(&ty), watches.remove(&ty)) {
                watching.reflector.rescope(scopes, reread.contains(&ty));
            }
        }
        self.demand = demand;
        let closed = difference.closed.into_iter().filter_map(|ty| self.close(ty, wiring));
        let closed = closed.collect();
        self.watched.set(self);
        closed
    }

    /// Waits for each type, as it is watched now.
    pub(super) fn listed(&self) -> Vec<Awaited> {
        self.by_type.values().map(|watching| watching.reflector.listed()).collect()
    }

    fn close(&mut self, ty: K8sType, wiring: &Wiring) -> Option<(K8sType, Gone)> {
        let Watching { reflector, gone, .. } = self.by_type.remove(&ty)?;
        reflector.stop();
        wiring.board.remove_store(&ty);
        Some((ty, gone))
    }

    /// # Panics
    /// Never: an operator is started after its types.
    pub(super) fn store(&self, ty: &K8sType) -> Store {
        self.by_type[ty].store.clone()
    }

    pub(super) fn find(&self, ty: &K8sType) -> Option<&Store> {
        self.by_type.get(ty).map(|watching| &watching.store)
    }

    pub(super) fn join(&self, ty: &K8sType, name: &OperatorName, operator: &OperatorHandle) {
        if let Some(watching) = self.by_type.get(ty) {
            watching.reflector.join(name.clone(), operator);
        }
    }

    pub(super) fn part(&self, name: &OperatorName) {
        self.by_type.values().for_each(|watching| watching.reflector.part(name.clone()));
    }

    /// The operator is notified of these types only.
    pub(super) fn part_unless(&self, name: &OperatorName, used: &BTreeSet<K8sType>) {
        for (ty, watching) in &self.by_type {
            if !used.contains(ty) {
                watching.reflector.part(name.clone());
            }
        }
    }

    pub(super) fn published(&self) -> impl Iterator<Item = (K8sType, BacklogRecipient<Observed>)> {
        self.by_type.iter().map(|(ty, watching)| (ty.clone(), watching.reflector.published()))
    }
}

impl Watched {
    fn set(&self, types: &Types) {
        let each = |(ty, specs): (K8sType, Vec<WatchSpec>)| {
            let reader = types.find(&ty).map(Store::reader);
            specs.into_iter().filter_map(move |spec| Some((spec, reader.clone()?)))
        };
        let watched = types.watches().into_iter().flat_map(each).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = watched;
    }

    #[cfg_attr(not(feature = "testkit"), expect(dead_code, reason = "only tests compare"))]
    pub(crate) fn now(&self) -> Vec<(WatchSpec, StoreReader)> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
