//! Notifies listeners of changes on the board.
//!
//! It never blocks writers: without listeners nothing is built, and a listener that does not keep up
//! misses notices. Nothing is kept for later listeners: they read the board, and listen from then on.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::{Notify, broadcast};

use super::{OperatorState, ParentPhase, ParentState, TypeState};
use crate::{
    history::Reconcile,
    object::{K8sType, ObjectKey, Uid},
    operator::OperatorName,
};

/// One change, with its number. Numbers grow from 1 as long as the process lives.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) number: u64,
    pub(crate) change: Change,
    rendered: OnceLock<Bytes>,
}

#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// A reconcile of a parent ended.
    Reconcile { parent: ParentName, phase: ParentPhase, reconcile: Arc<Reconcile> },
    /// A parent is new, or its phase changed.
    Phase { parent: ParentName, phase: ParentPhase },
    /// A parent is gone.
    Gone { parent: ParentName },
    /// The state of an operator changed; `None` when it is gone.
    Operator { operator: OperatorName, state: Option<OperatorState> },
    /// The state of the watch of a type changed, apart from the time of its last event.
    Type { ty: K8sType, state: TypeState },
    /// The process is stopping; nothing follows.
    Stopping,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentName {
    /// Its operator.
    pub(crate) operator: OperatorName,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

#[derive(Debug)]
pub(crate) struct Subscription(broadcast::Receiver<Arc<Notice>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoNotice {
    /// There is none yet.
    Empty,
    /// The listener was too slow and missed notices.
    TooSlow { missed: u64 },
    /// The board is gone.
    Ended,
}

/// The limit of listeners is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {MAX_LISTENERS} listeners is reached: try again later")]
pub(crate) struct Full;

/// Sends changes to the listeners. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Feed {
    /// Made for the first listener: its buffer takes a quarter of a megabyte.
    sender: Arc<OnceLock<broadcast::Sender<Arc<Notice>>>>,
    /// The number of the last notice; locked while it is sent, so that numbers are in order.
    last: Arc<Mutex<u64>>,
    /// Wakes whoever wakes the listeners. Waking a thousand here would delay the reconcile that notifies.
    changed: Arc<Notify>,
}

pub(crate) const MAX_LISTENERS: usize = 1024;
/// How many notices a listener may be behind: more than a burst of a thousand parents makes.
const CAPACITY: usize = 8192;

// === Feed ===

impl Feed {
    /// Whether there are listeners: without them no notice is built.
    pub(super) fn has_listeners(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.receiver_count() > 0)
    }

    pub(super) fn notify(&self, change: Change) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        let notice = Notice { number: *last, change, rendered: OnceLock::new() };
        if let Some(sender) = self.sender.get() {
            // The last listener may be gone.
            let _ = sender.send(Arc::new(notice));
        }
        self.changed.notify_one();
    }

    /// Waits until there is a notice since the last call; for one caller.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Under the lock of the numbers, so that concurrent calls cannot exceed the limit.
    pub(super) fn subscribe(&self) -> Result<Subscription, Full> {
        let _one_at_a_time = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = self.sender.get_or_init(|| broadcast::Sender::new(CAPACITY));
        if sender.receiver_count() < MAX_LISTENERS {
            Ok(Subscription(sender.subscribe()))
        } else {
            Err(Full)
        }
    }
}

/// The changes of a parent since it had this phase and this number of reconciles.
pub(super) fn changes(
    operator: &OperatorName,
    key: &ObjectKey,
    (phase_before, reconciles_before): (ParentPhase, u64),
    now: &ParentState,
) -> Vec<Change> {
    let parent = || ParentName::new(operator, key, &now.uid);
    let ended =
        now.history.newest_first().take_while(|reconcile| reconcile.number > reconciles_before);
    let reconciles: Vec<_> = ended.cloned().collect();
    let phase = now.phase;
    let is_only_a_phase = reconciles.is_empty() && phase != phase_before;
    let reconciles = reconciles.into_iter().rev().map(|reconcile| Change::Reconcile {
        parent: parent(),
        phase,
        reconcile,
    });
    reconciles.chain(is_only_a_phase.then(|| Change::Phase { parent: parent(), phase })).collect()
}

// === Notice, ParentName, Subscription ===

impl Notice {
    /// The notice as bytes, rendered once for all listeners.
    pub(crate) fn rendered(&self, render: impl FnOnce(&Self) -> Bytes) -> Bytes {
        self.rendered.get_or_init(|| render(self)).clone()
    }
}

impl ParentName {
    pub(super) fn new(operator: &OperatorName, key: &ObjectKey, uid: &Uid) -> Self {
        Self { operator: operator.clone(), key: key.clone(), uid: uid.clone() }
    }
}

impl Subscription {
    /// The next notice, if it is there.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn try_next(&mut self) -> Result<Arc<Notice>, NoNotice> {
        self.0.try_recv().map_err(|error| match error {
            broadcast::error::TryRecvError::Empty => NoNotice::Empty,
            broadcast::error::TryRecvError::Lagged(missed) => NoNotice::TooSlow { missed },
            broadcast::error::TryRecvError::Closed => NoNotice::Ended,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{
        board::{Board, OperatorInfo},
        history::Outcome,
        operator::OperatorConfig,
    };

    fn stopping(feed: &Feed, times: usize) {
        (0..times).for_each(|_| feed.notify(Change::Stopping));
    }

    #[test]
    fn a_listener_receives_later_changes_in_order() {
        let feed = Feed::default();
        stopping(&feed, 2);
        assert!(!feed.has_listeners());
        let mut listener = feed.subscribe().unwrap();
        assert!(feed.has_listeners());
        stopping(&feed, 2);
        let numbers = [listener.try_next(), listener.try_next()].map(|it| it.unwrap().number);
        assert_eq!(numbers, [3, 4]);
        assert_eq!(listener.try_next().unwrap_err(), NoNotice::Empty);
    }

    #[test]
    fn a_listener_that_does_not_keep_up_misses_notices_and_blocks_nobody() {
        let feed = Feed::default();
        let mut slow = feed.subscribe().unwrap();
        stopping(&feed, CAPACITY + 3);
        assert_eq!(slow.try_next().unwrap_err(), NoNotice::TooSlow { missed: 3 });
    }

    #[test]
    fn the_number_of_listeners_is_limited_until_one_leaves() {
        let feed = Feed::default();
        let mut listeners: Vec<_> = (0..MAX_LISTENERS).map(|_| feed.subscribe().unwrap()).collect();
        assert_eq!(feed.subscribe().unwrap_err(), Full);
        listeners.pop();
        assert!(feed.subscribe().is_ok());
    }

    #[test]
    fn a_notice_is_rendered_once_for_all_listeners() {
        let feed = Feed::default();
        let mut listeners = [feed.subscribe().unwrap(), feed.subscribe().unwrap()];
        feed.notify(Change::Stopping);
        let [first, second] = listeners.each_mut().map(|it| it.try_next().unwrap());
        assert_eq!(first.rendered(|_| Bytes::from_static(b"x")), "x");
        assert_eq!(second.rendered(|_| panic!("rendered twice")), "x");
    }
    fn board() -> (Board, OperatorName, ObjectKey) {
        let config = OperatorConfig::new("a", K8sType::namespaced("v1", "Pod", "pods"));
        let (board, name) = (Board::new(), config.operator_name().unwrap());
        board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
        (board, name, ObjectKey::namespaced("ns", "p"))
    }

    fn received(listener: &mut Subscription) -> Vec<String> {
        let notices = std::iter::from_fn(|| listener.try_next().ok());
        let word = |notice: Arc<Notice>| match &notice.change {
            Change::Reconcile { reconcile, phase, .. } => {
                format!("reconcile {} {}", reconcile.number, phase.name())
            }
            Change::Phase { parent, phase } => format!("{} {}", parent.key, phase.name()),
            Change::Gone { parent } => format!("{} gone", parent.key),
            Change::Operator { operator, state } => {
                format!("{operator} {}", state.as_ref().map_or("gone", OperatorState::name))
            }
            Change::Type { .. } => "type".to_owned(),
            Change::Stopping => "stopping".to_owned(),
        };
        notices.map(word).collect()
    }

    #[test]
    fn the_board_notifies_of_each_change_once() {
        let (board, operator, key) = board();
        let (mut listener, uid) = (board.subscribe().unwrap(), Uid::new("u"));
        for _ in 0..2 {
            board.set_operator(&operator, OperatorState::Running);
        }
        board.record(&operator, &key, ParentState::pending(uid.clone(), None));
        let update = |change: fn(&mut ParentState)| {
            board.update_parent(&operator, &key, &uid, change);
        };
        update(|state| state.phase = ParentPhase::Running);
        update(|state| state.phase = ParentPhase::Running);
        update(|state| {
            for _ in 0..2 {
                let reconcile =
                    Reconcile::new(SystemTime::UNIX_EPOCH, Duration::ZERO, Outcome::Ready);
                state.history.record(reconcile);
            }
            state.phase = ParentPhase::Ready;
        });
        update(|state| state.failures = 0);
        board.forget(&operator, &key);
        board.forget(&operator, &key);
        board.begin_stopping();
        let expected = [
            "a running",
            "ns/p pending",
            "ns/p running",
            "reconcile 1 ready",
            "reconcile 2 ready",
            "ns/p gone",
            "stopping",
        ];
        assert_eq!(received(&mut listener), expected);
    }

    #[test]
    fn the_time_of_the_last_event_of_a_watch_is_no_change() {
        let (mut shown, quiet) = (TypeState::default(), TypeState::default());
        shown.last_event = Some(SystemTime::UNIX_EPOCH);
        assert!(!shown.differs_from(&quiet));
        shown.restarts = 1;
        assert!(shown.differs_from(&quiet));
    }
}
