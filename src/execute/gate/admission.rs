//! How many runs of one operator are in flight, and who is next: the [`Queue`] behind a lock.
//!
//! Waiting costs a queue entry, no task: a reconcile is started when its place is free. The lock is never
//! held while a waiter is called; the lock of the [`SharedPermits`] is taken within it, never around.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::shared_permits::{InLine, SharedPermits};
use crate::{
    board::QueueState,
    metrics::QueueMetrics,
    schedule::{Place, Priority, Queue},
};

/// The places of one operator. Cheap to clone.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

/// A wait for a [`Permit`]; dropping it ends the wait.
#[must_use]
pub struct Ticket {
    gate: Gate,
    place: Place,
}

/// What somebody gets who wants to run.
#[derive(Debug)]
#[must_use]
pub enum Entry {
    /// A place is free.
    Now(Permit),
    /// The waiter is called when one is.
    Later(Ticket),
}

/// What is called with the permit, on whatever thread the place was given up: it must not block.
pub type Waiter = Box<dyn FnOnce(Permit) + Send>;

struct Shared {
    state: Mutex<State>,
    common: SharedPermits,
    idle: Notify,
    metrics: QueueMetrics,
}

struct State {
    queue: Queue<Queued>,
    places: usize,
    in_flight: usize,
    /// How many of those in flight have a common place.
    in_common: usize,
    /// Whether a place will be offered.
    is_in_line: bool,
    is_closed: bool,
}

struct Queued {
    since: Instant,
    waiter: Waiter,
}

impl Gate {
    /// A gate that lets so many in at once, as far as there are common places for them.
    pub fn new(places: usize, common: SharedPermits, metrics: QueueMetrics) -> Self {
        let state = Mutex::new(State {
            queue: Queue::new(),
            places,
            in_flight: 0,
            in_common: 0,
            is_in_line: false,
            is_closed: false,
        });
        Self(Arc::new(Shared { state, common, idle: Notify::new(), metrics }))
    }

    /// Asks for a place. `waiter` is called only if there is none now.
    pub fn enter(&self, priority: Priority, waiter: impl FnOnce(Permit) + Send + 'static) -> Entry {
        let mut state = self.state();
        if self.take_place(&mut state) {
            drop(state);
            self.0.metrics.waited(priority, Duration::ZERO);
            return Entry::Now(Permit::new(self));
        }
        let waiting = Queued { since: Instant::now(), waiter: Box::new(waiter) };
        let place = state.queue.push(priority, waiting);
        self.show_depth(&state);
        Entry::Later(Ticket { gate: self.clone(), place })
    }

    /// Lets nobody in any more. Who waits goes on waiting.
    pub fn close(&self) {
        self.state().is_closed = true;
    }

    /// Whether nobody is let in any more.
    pub fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Whether a deletion or a change of a parent waits.
    pub fn is_urgent(&self) -> bool {
        let queue = &self.state().queue;
        queue.waiting(Priority::Deletion) + queue.waiting(Priority::Change) > 0
    }

    /// Returns when nothing is in flight.
    pub async fn idle(&self) {
        loop {
            let notified = self.0.idle.notified();
            if self.state().in_flight == 0 {
                return;
            }
            notified.await;
        }
    }

    /// Who runs and who waits at this moment.
    pub fn look(&self) -> QueueState {
        let state = self.state();
        let waiting = |priority| (priority, state.queue.waiting(priority));
        let oldest = Priority::ALL.into_iter().filter_map(|priority| state.queue.oldest(priority));
        QueueState {
            running: state.in_flight,
            limit: state.places,
            waiting: Priority::ALL.into_iter().map(waiting).collect(),
            longest_wait: oldest.map(|waiting| waiting.since.elapsed()).max(),
        }
    }

    /// Takes its own place if nobody is in it, else one that is free, else gets in line for that.
    fn take_place(&self, state: &mut State) -> bool {
        if !state.has_room() {
            return false;
        }
        if state.in_common == 0 {
            self.0.common.take_own();
        } else if state.is_in_line || !self.take_common() {
            state.is_in_line = true;
            return false;
        }
        state.enter();
        true
    }

    fn take_common(&self) -> bool {
        let in_line: Arc<dyn InLine> = self.0.clone();
        self.0.common.take_or_get_in_line(&in_line)
    }

    fn leave(&self, in_common: bool) {
        self.pass_on(|state| {
            state.in_flight -= 1;
            in_common.then(|| self.give_back(state)).flatten()
        });
    }

    /// Goes on without a common place.
    fn leave_common(&self) {
        self.pass_on(|state| self.give_back(state));
    }

    fn give_back(&self, state: &mut State) -> Option<Arc<dyn InLine>> {
        state.in_common -= 1;
        self.0.common.give_back()
    }

    /// Lets in who is next, here and at the gate that has the common place now.
    fn pass_on(&self, leave: impl FnOnce(&mut State) -> Option<Arc<dyn InLine>>) {
        let (heir, next) = {
            let mut state = self.state();
            let heir = leave(&mut state);
            let next = self.admit_next(&mut state);
            if state.in_flight == 0 {
                self.0.idle.notify_waiters();
            }
            (heir, next)
        };
        self.let_in(next);
        Self::offer(heir);
    }

    fn admit_next(&self, state: &mut State) -> Option<(Priority, Queued)> {
        if state.queue.is_empty() || !self.take_place(state) {
            return None;
        }
        let next = state.queue.pop();
        self.show_depth(state);
        next
    }

    fn let_in(&self, next: Option<(Priority, Queued)>) {
        if let Some((priority, Queued { since, waiter })) = next {
            self.0.metrics.waited(priority, since.elapsed());
            waiter(Permit::new(self));
        }
    }

    /// Hands a place to who is next in line, past those who have no use for it any more.
    fn offer(mut heir: Option<Arc<dyn InLine>>) {
        while let Some(gate) = heir {
            heir = gate.offered();
        }
    }

    /// Takes the place that is offered, if somebody waits for it.
    fn accept(&self) -> Option<(Priority, Queued)> {
        let mut state = self.state();
        state.is_in_line = false;
        if !state.has_room() || state.queue.is_empty() {
            return None;
        }
        state.enter();
        let next = state.queue.pop();
        self.show_depth(&state);
        next
    }

    /// Who still waits gets what else is free, or back in line.
    fn let_in_more(&self) {
        loop {
            let next = self.admit_next(&mut self.state());
            if next.is_none() {
                return;
            }
            self.let_in(next);
        }
    }

    fn show_depth(&self, state: &State) {
        for priority in Priority::ALL {
            self.0.metrics.depth(priority, state.queue.waiting(priority));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Gate {
    /// The places of all operators.
    pub(super) fn common(&self) -> &SharedPermits {
        &self.0.common
    }
}

impl InLine for Shared {
    fn offered(self: Arc<Self>) -> Option<Arc<dyn InLine>> {
        let gate = Gate(self);
        let next = gate.accept();
        let heir = if next.is_none() { gate.0.common.give_back() } else { None };
        gate.let_in(next);
        gate.let_in_more();
        heir
    }
}

impl State {
    fn has_room(&self) -> bool {
        !self.is_closed && self.in_flight < self.places
    }

    /// One more is in flight, with a common place that was taken for it.
    fn enter(&mut self) {
        self.in_flight += 1;
        self.in_common += 1;
    }
}

impl Ticket {
    /// Goes on waiting, more urgently; does nothing for one that is as urgent already.
    pub fn raise(&mut self, to: Priority) {
        let mut state = self.gate.state();
        self.place = state.queue.raise(self.place, to);
        self.gate.show_depth(&state);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        let waiting = state.queue.remove(self.place);
        self.gate.show_depth(&state);
        drop(state);
        // It may hold the last handle on an actor.
        drop(waiting);
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(f, "Gate({} of {} in flight)", state.in_flight, state.places)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({:?})", self.place)
    }
}

// === Permit ===

/// Longer than a reconcile takes that writes a few children, also to a busy server.
pub(super) const SHORT_RECONCILE: Duration = Duration::from_secs(1);

/// The right to run, until it is dropped.
#[must_use]
pub struct Permit {
    gate: Gate,
    /// Whether it has one of the common places.
    pub(super) in_common: bool,
}

impl Permit {
    pub(super) fn new(gate: &Gate) -> Self {
        Self { gate: gate.clone(), in_common: true }
    }

    /// Runs. What is not done after a second goes on without a common place.
    pub async fn during<T>(mut self, mut run: Pin<&mut impl Future<Output = T>>) -> T {
        if let Ok(done) = tokio::time::timeout(SHORT_RECONCILE, &mut run).await {
            return done;
        }
        self.leave_common();
        run.await
    }

    pub(super) fn leave_common(&mut self) {
        if std::mem::take(&mut self.in_common) {
            self.gate.leave_common();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.leave(self.in_common);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit of {:?}", self.gate)
    }
}
