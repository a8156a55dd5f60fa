//! What changes on the board, told to those who listen.
//!
//! It is never in the way of those who act: without listeners nothing is built, and a listener that
//! does not keep up loses its place instead of holding anything up. Nothing is kept for those who
//! come later: they read the board, and listen from then on.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::sync::broadcast;

use super::{OperatorState, ParentPhase, ParentState, TypeState};
use crate::{
    history::Reconcile,
    object::{K8sType, ObjectKey, Uid},
    operator::OperatorName,
};

/// One change, with its number. Numbers grow from 1 as long as the process lives.
#[derive(Debug)]
pub struct Notice {
    /// Its number.
    pub number: u64,
    /// What changed.
    pub change: Change,
    rendered: OnceLock<Bytes>,
}

/// What changed on the board.
#[derive(Debug, Clone)]
pub enum Change {
    /// A reconcile of a parent ended.
    Reconcile {
        /// Whose.
        parent: ParentName,
        /// Where the parent stands now.
        phase: ParentPhase,
        /// The reconcile.
        run: Arc<Reconcile>,
    },
    /// A parent is new, or has got into another phase.
    Phase {
        /// Which.
        parent: ParentName,
        /// Where it stands now.
        phase: ParentPhase,
    },
    /// A parent is gone.
    Gone {
        /// Which.
        parent: ParentName,
    },
    /// An operator stands elsewhere.
    Operator {
        /// Its name.
        operator: OperatorName,
        /// Where it stands now.
        state: OperatorState,
    },
    /// The watch of a type stands otherwise, but for the time of its last event.
    Type {
        /// The type.
        ty: K8sType,
        /// Its watch.
        state: TypeState,
    },
    /// The process ends; nothing follows.
    Stopping,
}

/// A parent by all its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentName {
    /// Who answers for it.
    pub operator: OperatorName,
    /// Its key.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: Uid,
}

/// A place among the listeners.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Arc<Notice>>);

/// Why there is no next notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Nothing has happened since.
    Nothing,
    /// This many notices came too fast to be kept: the listener has lost its place.
    TooSlow {
        /// How many.
        missed: u64,
    },
    /// The board is gone.
    Ended,
}

/// All places are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{MAX_LISTENERS} listen already, which is the limit: try again later")]
pub struct Full;

/// Sends changes to those who listen. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Feed {
    /// Made when somebody listens: its places take a quarter of a megabyte.
    sender: Arc<OnceLock<broadcast::Sender<Arc<Notice>>>>,
    /// The number of the last notice; held while it is sent, so that numbers come in order.
    last: Arc<Mutex<u64>>,
}

/// As many can listen at once.
pub const MAX_LISTENERS: usize = 1024;
/// A listener may be so many notices behind: more than a burst of a thousand parents makes while a
/// listener rests.
const CAPACITY: usize = 8192;

// === Feed ===

impl Feed {
    /// Whether anybody listens: else nothing need be built.
    pub(super) fn is_heard(&self) -> bool {
        self.sender.get().is_some_and(|sender| sender.receiver_count() > 0)
    }

    pub(super) fn tell(&self, change: Change) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last += 1;
        let notice = Notice { number: *last, change, rendered: OnceLock::new() };
        if let Some(sender) = self.sender.get() {
            // Nobody may be listening any more.
            let _ = sender.send(Arc::new(notice));
        }
    }

    /// Under the lock of the numbers, so that not even two at once get beyond the limit.
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

/// What to tell about a parent that was in this phase, with so many reconciles, before it was changed.
pub(super) fn news(
    operator: &OperatorName,
    key: &ObjectKey,
    (phase_before, reconciles_before): (ParentPhase, u64),
    now: &ParentState,
) -> Vec<Change> {
    let parent = || ParentName::new(operator, key, &now.uid);
    let ended = now.history.newest_first().take_while(|run| run.number > reconciles_before);
    let reconciles: Vec<_> = ended.cloned().collect();
    let phase = now.phase;
    let is_only_a_phase = reconciles.is_empty() && phase != phase_before;
    let reconciles =
        reconciles.into_iter().rev().map(|run| Change::Reconcile { parent: parent(), phase, run });
    reconciles.chain(is_only_a_phase.then(|| Change::Phase { parent: parent(), phase })).collect()
}

// === Notice, ParentName, Subscription ===

impl Notice {
    /// The notice as bytes, made once for all who listen.
    pub fn rendered(&self, render: impl FnOnce(&Self) -> Bytes) -> Bytes {
        self.rendered.get_or_init(|| render(self)).clone()
    }
}

impl ParentName {
    pub(super) fn new(operator: &OperatorName, key: &ObjectKey, uid: &Uid) -> Self {
        Self { operator: operator.clone(), key: key.clone(), uid: uid.clone() }
    }
}

impl Subscription {
    /// Waits for the next notice.
    ///
    /// # Errors
    /// When there will be none; never [`Silence::Nothing`].
    pub async fn next(&mut self) -> Result<Arc<Notice>, Silence> {
        self.0.recv().await.map_err(|error| match error {
            broadcast::error::RecvError::Lagged(missed) => Silence::TooSlow { missed },
            broadcast::error::RecvError::Closed => Silence::Ended,
        })
    }

    /// The next notice, if it is there.
    ///
    /// # Errors
    /// When it is not.
    pub fn try_next(&mut self) -> Result<Arc<Notice>, Silence> {
        self.0.try_recv().map_err(|error| match error {
            broadcast::error::TryRecvError::Empty => Silence::Nothing,
            broadcast::error::TryRecvError::Lagged(missed) => Silence::TooSlow { missed },
            broadcast::error::TryRecvError::Closed => Silence::Ended,
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
        (0..times).for_each(|_| feed.tell(Change::Stopping));
    }

    #[test]
    fn a_listener_hears_what_is_told_from_then_on_in_order() {
        let feed = Feed::default();
        stopping(&feed, 2);
        assert!(!feed.is_heard());
        let mut listener = feed.subscribe().unwrap();
        assert!(feed.is_heard());
        stopping(&feed, 2);
        let numbers = [listener.try_next(), listener.try_next()].map(|it| it.unwrap().number);
        assert_eq!(numbers, [3, 4]);
        assert_eq!(listener.try_next().unwrap_err(), Silence::Nothing);
    }

    #[test]
    fn a_listener_that_does_not_keep_up_loses_its_place_and_nobody_waits_for_it() {
        let feed = Feed::default();
        let mut slow = feed.subscribe().unwrap();
        stopping(&feed, CAPACITY + 3);
        assert_eq!(slow.try_next().unwrap_err(), Silence::TooSlow { missed: 3 });
    }

    #[test]
    fn there_is_a_limit_to_listeners_and_a_place_is_free_again() {
        let feed = Feed::default();
        let mut listeners: Vec<_> = (0..MAX_LISTENERS).map(|_| feed.subscribe().unwrap()).collect();
        assert_eq!(feed.subscribe().unwrap_err(), Full);
        listeners.pop();
        assert!(feed.subscribe().is_ok());
    }

    #[test]
    fn a_notice_is_rendered_once_for_all() {
        let feed = Feed::default();
        let mut listeners = [feed.subscribe().unwrap(), feed.subscribe().unwrap()];
        feed.tell(Change::Stopping);
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

    fn heard(listener: &mut Subscription) -> Vec<String> {
        let notices = std::iter::from_fn(|| listener.try_next().ok());
        let word = |notice: Arc<Notice>| match &notice.change {
            Change::Reconcile { run, phase, .. } => format!("run {} {}", run.number, phase.name()),
            Change::Phase { parent, phase } => format!("{} {}", parent.key, phase.name()),
            Change::Gone { parent } => format!("{} gone", parent.key),
            Change::Operator { operator, state } => format!("{operator} {}", state.name()),
            Change::Type { .. } => "type".to_owned(),
            Change::Stopping => "stopping".to_owned(),
        };
        notices.map(word).collect()
    }

    #[test]
    fn the_board_tells_what_changes_and_nothing_twice() {
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
                let run = Reconcile::new(SystemTime::UNIX_EPOCH, Duration::ZERO, Outcome::Synced);
                state.history.record(run);
            }
            state.phase = ParentPhase::Synced;
        });
        update(|state| state.failures = 0);
        board.forget(&operator, &key);
        board.forget(&operator, &key);
        board.begin_stopping();
        let expected = [
            "a running",
            "ns/p pending",
            "ns/p running",
            "run 1 synced",
            "run 2 synced",
            "ns/p gone",
            "stopping",
        ];
        assert_eq!(heard(&mut listener), expected);
    }

    #[test]
    fn that_a_watch_has_heard_something_is_no_news() {
        let (mut shown, quiet) = (TypeState::default(), TypeState::default());
        shown.last_event = Some(SystemTime::UNIX_EPOCH);
        assert!(!shown.differs_from(&quiet));
        shown.restarts = 1;
        assert!(shown.differs_from(&quiet));
    }
}
