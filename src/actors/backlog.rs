//! The changes that wait for an actor: of each object the latest, so that an actor that lags behind holds two versions
//! of each object at most.
//!
//! ```text
//! sender --post--> batches, merged when many wait --take--> actor
//!             \--Pending, when nothing waited before--> mailbox --/
//! ```
//!
//! Each sender has a backlog of its own. While few changes wait they are passed on as they came.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix::{Addr, Context, Handler};

use super::{
    mailbox::{Metered, MeteredRecipient, Receive},
    supervised::Supervised,
};
use crate::{
    metrics::{InMailbox, MailboxDepth},
    object::ObjectKey,
    store::Change,
};

/// Changes with the properties that all of them have.
pub(crate) trait Batch: Send + Sized + 'static {
    /// The common properties.
    type Of: Clone + Eq + Hash + Send;

    fn split(self) -> (Self::Of, Arc<[Change]>);

    fn join(of: Self::Of, changes: Arc<[Change]>) -> Self;
}

/// So many changes wait before they are merged.
const MANY: usize = 256;

/// What waits.
struct Backlog<B: Batch>(Arc<Mutex<Waiting<B::Of>>>);

/// The message that changes wait. Where nobody takes them, because the actor is down, they are dropped with it, as other
/// messages are: the next change is then the first again.
pub(crate) struct Pending<B: Batch>(Option<Backlog<B>>);

/// Sends changes to an actor.
pub(crate) struct BacklogRecipient<B: Batch> {
    backlog: Backlog<B>,
    to: MeteredRecipient<Pending<B>>,
    depth: MailboxDepth,
}

struct Waiting<Of> {
    batches: Vec<(Of, Arc<[Change]>)>,
    /// How many changes these are.
    count: usize,
    limit: usize,
    /// The batches but the first, for which a message waits, in the depth of the mailbox.
    in_mailbox: Vec<InMailbox>,
}

// By hand, because a batch need not be `Clone`.
impl<B: Batch> Clone for Backlog<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Batch> Clone for BacklogRecipient<B> {
    fn clone(&self) -> Self {
        Self { backlog: self.backlog.clone(), to: self.to.clone(), depth: self.depth.clone() }
    }
}

impl<B: Batch> BacklogRecipient<B> {
    pub(super) fn new<A>(to: &Addr<A>, depth: &MailboxDepth) -> Self
    where
        A: Receive<Pending<B>> + Handler<Metered<Pending<B>>>,
    {
        let backlog = Backlog(Arc::default());
        Self { backlog, to: MeteredRecipient::new(to, depth), depth: depth.clone() }
    }

    pub(crate) fn post(&self, batch: B) {
        let (of, changes) = batch.split();
        let mut waiting = self.backlog.waiting();
        let is_first = waiting.batches.is_empty();
        waiting.add(of, changes);
        if !is_first {
            waiting.in_mailbox.push(self.depth.enter());
        }
        waiting.merge_if_many();
        drop(waiting);
        if is_first {
            self.to.post(Pending(Some(self.backlog.clone())));
        }
    }
}

impl<B: Batch> Backlog<B> {
    fn take(&self) -> Vec<B> {
        let Waiting { batches, .. } = std::mem::take(&mut *self.waiting());
        batches.into_iter().map(|(of, changes)| B::join(of, changes)).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<B::Of>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Batch> Pending<B> {
    fn take(mut self) -> Vec<B> {
        self.0.take().map(|backlog| backlog.take()).unwrap_or_default()
    }
}

impl<B: Batch> Drop for Pending<B> {
    fn drop(&mut self) {
        if let Some(backlog) = self.0.take() {
            drop(backlog.take());
        }
    }
}

impl<A, B> Receive<Pending<B>> for A
where
    A: Supervised + Receive<B>,
    B: Batch,
{
    fn receive(&mut self, pending: Pending<B>, ctx: &mut Context<Self>) {
        for batch in pending.take() {
            self.receive(batch, ctx);
        }
    }
}

impl<Of> Default for Waiting<Of> {
    fn default() -> Self {
        let (batches, count, in_mailbox) = <_>::default();
        Self { batches, count, limit: MANY, in_mailbox }
    }
}

impl<Of: Clone + Eq + Hash> Waiting<Of> {
    fn add(&mut self, of: Of, changes: Arc<[Change]>) {
        self.count += changes.len();
        self.batches.push((of, changes));
    }

    fn merge_if_many(&mut self) {
        if self.count > self.limit && self.batches.len() > 1 {
            self.batches = merged(&self.batches);
            self.count = self.batches.iter().map(|(_, changes)| changes.len()).sum();
            self.limit = MANY.max(2 * self.count);
            self.in_mailbox.truncate(self.batches.len().saturating_sub(1));
        }
    }
}

/// One batch for each thing that changes have in common, with one change for each object.
fn merged<Of: Clone + Eq + Hash>(batches: &[(Of, Arc<[Change]>)]) -> Vec<(Of, Arc<[Change]>)> {
    let mut order: Vec<Of> = Vec::new();
    let mut all: HashMap<Of, OfEach> = HashMap::new();
    for (of, changes) in batches {
        let known = all.entry(of.clone()).or_insert_with(|| {
            order.push(of.clone());
            OfEach::default()
        });
        changes.iter().for_each(|change| known.add(change));
    }
    let batch = |of: Of| all.remove(&of).map(|known| (of, Arc::from(known.changes)));
    order.into_iter().filter_map(batch).collect()
}

/// One change of each object, in the order of the first ones.
#[derive(Default)]
struct OfEach {
    changes: Vec<Change>,
    by_key: HashMap<ObjectKey, usize>,
}

impl OfEach {
    fn add(&mut self, change: &Change) {
        let key = change.object().key();
        if let Some(at) = self.by_key.get(key) {
            return self.changes[*at].follow_with(change);
        }
        self.by_key.insert(key.clone(), self.changes.len());
        self.changes.push(change.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers, Object, Uid};

    fn object(name: &str, version: u64) -> Object {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let metadata = json!({
            "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
        });
        Object::from_value(&ty, &json!({"metadata": metadata}), &KeptManagers::default()).unwrap()
    }

    fn change(name: &str, before: Option<u64>, after: Option<u64>) -> Change {
        let side = |version: Option<u64>| version.map(|version| object(name, version));
        let parents = BTreeSet::from([Uid::new(&format!("{before:?}"))]);
        Change { before: side(before), after: side(after), parents }
    }

    fn shown(changes: &[Change]) -> Vec<String> {
        let version = |side: &Option<Object>| {
            side.as_ref().map_or_else(|| "-".to_owned(), |it| it.resource_version().to_string())
        };
        let show = |it: &Change| {
            format!("{} {} {}", it.object().name(), version(&it.before), version(&it.after))
        };
        changes.iter().map(show).collect()
    }

    #[test]
    fn of_many_changes_of_an_object_the_first_and_the_last_version_wait() {
        let mut waiting = Waiting::default();
        let changes = 10_000;
        for version in 0..changes {
            let name = if version % 2 == 0 { "a" } else { "b" };
            waiting.add("x", Arc::from([change(name, Some(version), Some(version + 2))]));
            waiting.merge_if_many();
            assert!(waiting.count <= MANY, "{}", waiting.count);
        }
        let all = merged(&waiting.batches);
        assert_eq!(all.len(), 1);
        assert_eq!(shown(&all[0].1), ["a 0 10000", "b 1 10001"]);
        let parents = usize::try_from(changes / 2).unwrap();
        assert_eq!(all[0].1[0].parents.len(), parents, "all named parents are woken");
    }

    #[test]
    fn a_change_that_follows_another_keeps_what_was_known_before() {
        for (first, second, expected) in [
            ((Some(1), Some(2)), (Some(2), Some(3)), "a 1 3"),
            ((None, Some(2)), (Some(2), Some(3)), "a - 3"),
            ((Some(1), None), (None, Some(3)), "a 1 3"),
            ((Some(1), Some(2)), (Some(2), None), "a 1 -"),
            ((None, Some(2)), (Some(2), None), "a 2 -"),
        ] {
            let mut known = OfEach::default();
            known.add(&change("a", first.0, first.1));
            known.add(&change("a", second.0, second.1));
            assert_eq!(shown(&known.changes), [expected]);
        }
    }

    impl Batch for Vec<Change> {
        type Of = ();

        fn split(self) -> ((), Arc<[Change]>) {
            ((), self.into())
        }

        fn join((): (), changes: Arc<[Change]>) -> Self {
            changes.to_vec()
        }
    }

    #[test]
    fn changes_are_dropped_with_the_message_that_nobody_takes() {
        let backlog = Backlog::<Vec<Change>>(Arc::default());
        let wait = |version| {
            backlog.waiting().add((), Arc::from([change("a", Some(version), Some(version + 1))]));
            Pending(Some(backlog.clone()))
        };
        drop(wait(1));
        assert!(backlog.waiting().batches.is_empty(), "the next change is the first again");
        let taken = wait(2).take();
        assert_eq!(shown(&taken[0]), ["a 2 3"]);
    }

    #[test]
    fn changes_of_different_origins_are_not_merged() {
        let batch = |of: &'static str, version: u64| -> (&str, Arc<[Change]>) {
            (of, Arc::from([change("a", Some(version), Some(version + 1))]))
        };
        let all = merged(&[batch("own", 1), batch("other", 2), batch("own", 3)]);
        let shown: Vec<_> = all.iter().map(|(of, changes)| (*of, shown(changes))).collect();
        assert_eq!(shown, [("own", vec!["a 1 4".to_owned()]), ("other", vec!["a 2 3".to_owned()])]);
    }
}
