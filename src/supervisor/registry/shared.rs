//! Follows the buckets whose objects the process is to watch, and whether their children can be selected by a label.

use std::collections::BTreeSet;

use super::members::Members;
use crate::{
    actors::Awaited,
    cluster::{Cluster, WatchSpec},
    election::Buckets,
    object::K8sType,
    operator::AnyOperator,
    supervisor::demand::{Demand, Demanding, Sharing},
};

/// Other objects are watched.
pub(super) struct Warming {
    pub(super) buckets: Buckets,
    /// How often that changed.
    pub(super) number: u64,
    /// The types.
    pub(super) awaited: Vec<Awaited>,
}

impl Members {
    /// The buckets whose objects are watched.
    pub(super) fn watched_buckets(&self) -> Buckets {
        self.sharing.as_ref().map_or(Buckets::NONE, |sharing| sharing.buckets)
    }

    /// Watches the objects of these buckets. The member knows before what is cached no more: a bucket that was given up may be
    /// assigned again while only some of the types are listed without it.
    pub(super) fn watch_buckets(&mut self, buckets: Buckets) -> Option<Warming> {
        let unlabelled = self.sharing.as_ref()?.unlabelled.clone();
        if let Some(sharded) = self.sharded() {
            sharded.narrow(buckets);
        }
        self.share(buckets, unlabelled)
    }

    /// Selects children by the label of their bucket, but those of these types.
    pub(super) fn watch_labels(&mut self, unlabelled: BTreeSet<K8sType>) -> Option<Warming> {
        let sharing = self.sharing.as_ref()?;
        let buckets = sharing.buckets;
        if sharing.unlabelled == unlabelled {
            return None;
        }
        self.share(buckets, unlabelled)
    }

    fn share(&mut self, buckets: Buckets, unlabelled: BTreeSet<K8sType>) -> Option<Warming> {
        let sharing = self.sharing.as_mut()?;
        *sharing = Sharing { buckets, unlabelled, ..Sharing::default() };
        self.shared += 1;
        let demand = self.demand_with([].into_iter());
        let nothing = (&BTreeSet::new(), &BTreeSet::new());
        let closed = self.types.follow(demand, nothing, &self.wiring);
        debug_assert!(closed.is_empty(), "the types stay");
        self.show_labelling();
        Some(Warming { buckets, number: self.shared, awaited: self.types.listed() })
    }

    /// All types are listed: the buckets can be worked in, unless others are watched by now.
    pub(super) fn warmed(&self, buckets: Buckets, number: u64) {
        if let Some(sharded) = self.sharded().filter(|_| self.shared == number) {
            sharded.warm(buckets);
        }
    }

    /// Some type has failed for a minute.
    pub(super) fn unlistable(&self, number: u64) {
        if let Some(sharded) = self.sharded().filter(|_| self.shared == number) {
            sharded.cannot_list();
        }
    }

    /// The operators whose children may lack the label, label them.
    pub(super) fn show_labelling(&self) {
        let Some(sharing) = &self.sharing else { return };
        for member in self.operators.values() {
            let Some(context) = &member.context else { continue };
            let mut children = context.config().children.iter();
            let is_needed = children.any(|child| sharing.unlabelled.contains(&child.ty));
            context.labelling.set_needed(is_needed);
        }
    }

    /// What shows whether children of the operators lack the label; none if none can, or nobody looks for it.
    pub(super) fn watches_of_unlabelled(&self) -> Option<(Cluster, Vec<WatchSpec>)> {
        let sharing = self.sharing.as_ref().filter(|it| !it.unlabelled.is_empty())?;
        let mut watches = self.types.demand().unlabelled();
        watches.retain(|watch| sharing.unlabelled.contains(&watch.ty));
        Some((self.wiring.cluster.clone(), watches))
    }

    /// Notes of which types some children lack the label, before operators are admitted.
    pub(crate) fn know_unlabelled(&mut self, unlabelled: BTreeSet<K8sType>) {
        if let Some(sharing) = &mut self.sharing {
            sharing.unlabelled = unlabelled;
        }
    }

    /// Children of an operator that is registered later may lack the label.
    pub(super) fn doubt_labels(&mut self, operators: &[AnyOperator]) {
        if let Some(sharing) = &mut self.sharing {
            let children = operators.iter().flat_map(|operator| &operator.config.children);
            let is_new = |ty: &&K8sType| !self.types.is_watched(ty);
            sharing.unlabelled.extend(children.map(|child| &child.ty).filter(is_new).cloned());
        }
    }
}

/// What shows whether children of operators that are going to be admitted lack the label.
pub(crate) fn watches_of_unlabelled(operators: &[AnyOperator]) -> Vec<WatchSpec> {
    let demanding = operators.iter().map(|operator| Demanding {
        config: &operator.config,
        sees_all_parents: true,
        is_open: false,
        whole: &[],
    });
    let demanding: Vec<Demanding<'_>> = demanding.collect();
    Demand::of(&demanding, &BTreeSet::new()).unlabelled()
}
