//! The concurrency limit of one operator: a [`Queue`] behind a lock.
//!
//! Waiting costs a queue entry, no task: a reconcile starts when its permit is free. The lock is never held
//! while a waiter is called; the lock of the [`SharedPermits`] is taken inside it, never outside.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::shared_permits::{SharedPermits, WaitingGate};
use crate::{
    board::QueueState,
    metrics::QueueMetrics,
    schedule::{Position, Priority, Queue},
};

/// The permits of one operator. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Shared>);

/// A wait for a [`Permit`]; dropping it ends the wait.
#[must_use]
pub(crate) struct Ticket {
    gate: Gate,
    position: Position,
}

#[must_use]
pub(crate) enum Entry {
    Now(Permit),
    /// The waiter is called when one is free.
    Later(Ticket),
}

/// Called with the permit, on the thread that released it: it must not block.
pub(crate) type Waiter = Box<dyn FnOnce(Permit) + Send>;

struct Shared {
    state: Mutex<Admissions>,
    permits: SharedPermits,
    idle: Notify,
    metrics: QueueMetrics,
}

struct Admissions {
    queue: Queue<Queued>,
    limit: usize,
    in_flight: usize,
    /// How many reconciles in flight hold a shared permit.
    shared: usize,
    /// Whether the gate waits for a shared permit.
    is_queued: bool,
    is_closed: bool,
    /// Whether another process leads.
    is_held: bool,
}

struct Queued {
    since: Instant,
    waiter: Waiter,
}

impl Gate {
    /// A gate with this limit, as far as shared permits are free.
    pub(crate) fn new(limit: usize, shared_permits: SharedPermits, metrics: QueueMetrics) -> Self {
        let state = Mutex::new(Admissions {
            queue: Queue::new(),
            limit,
            in_flight: 0,
            shared: 0,
            is_queued: false,
            is_closed: false,
            is_held: false,
        });
        Self(Arc::new(Shared { state, permits: shared_permits, idle: Notify::new(), metrics }))
    }

    /// Requests a permit. `waiter` is called only if none is free now.
    pub(crate) fn enter(
        &self,
        priority: Priority,
        waiter: impl FnOnce(Permit) + Send + 'static,
    ) -> Entry {
        let mut state = self.state();
        if self.take_permit(&mut state) {
            drop(state);
            self.0.metrics.waited(priority, Duration::ZERO);
            return Entry::Now(Permit::new(self));
        }
        let waiting = Queued { since: Instant::now(), waiter: Box::new(waiter) };
        let position = state.queue.push(priority, waiting);
        self.show_depth(&state);
        Entry::Later(Ticket { gate: self.clone(), position })
    }

    /// Admits nobody any more. Waiters keep waiting.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
    }

    /// Admits nobody until [`open`](Self::open). Waiters keep waiting.
    pub(crate) fn hold(&self) {
        self.state().is_held = true;
    }

    /// Admits the waiters, the most urgent first.
    pub(crate) fn open(&self) {
        self.state().is_held = false;
        self.admit_more();
    }

    /// Changes the limit. Reconciles in flight beyond a lower one continue.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.state().limit = limit;
        self.admit_more();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    pub(crate) fn is_urgent(&self) -> bool {
        let queue = &self.state().queue;
        queue.waiting(Priority::Deletion) + queue.waiting(Priority::Change) > 0
    }

    pub(crate) async fn idle(&self) {
        loop {
            let notified = self.0.idle.notified();
            if self.state().in_flight == 0 {
                return;
            }
            notified.await;
        }
    }

    pub(crate) fn look(&self) -> QueueState {
        let state = self.state();
        let waiting = |priority| (priority, state.queue.waiting(priority));
        let oldest = Priority::ALL.into_iter().filter_map(|priority| state.queue.oldest(priority));
        QueueState {
            running: state.in_flight,
            limit: state.limit,
            waiting: Priority::ALL.into_iter().map(waiting).collect(),
            longest_wait: oldest.map(|waiting| waiting.since.elapsed()).max(),
        }
    }

    /// Takes the operator's own permit if it is free, else a shared one, else queues for that.
    fn take_permit(&self, state: &mut Admissions) -> bool {
        if !state.has_free_permit() {
            return false;
        }
        if state.shared == 0 {
            self.0.permits.take_own();
        } else if state.is_queued || !self.take_shared() {
            state.is_queued = true;
            return false;
        }
        state.enter();
        true
    }

    fn take_shared(&self) -> bool {
        let gate: Arc<dyn WaitingGate> = self.0.clone();
        self.0.permits.take_or_queue(&gate)
    }

    fn leave(&self, is_shared: bool) {
        self.release(|state| {
            state.in_flight -= 1;
            is_shared.then(|| self.give_back(state)).flatten()
        });
    }

    /// Continues without a shared permit.
    fn release_shared(&self) {
        self.release(|state| self.give_back(state));
    }

    fn give_back(&self, state: &mut Admissions) -> Option<Arc<dyn WaitingGate>> {
        state.shared -= 1;
        self.0.permits.give_back()
    }

    /// Releases, and admits the next waiter, here and at the gate that got the shared permit.
    fn release(&self, leave: impl FnOnce(&mut Admissions) -> Option<Arc<dyn WaitingGate>>) {
        let (successor, next) = {
            let mut state = self.state();
            let successor = leave(&mut state);
            let next = self.admit_next(&mut state);
            if state.in_flight == 0 {
                self.0.idle.notify_waiters();
            }
            (successor, next)
        };
        self.admit(next);
        Self::offer(successor);
    }

    fn admit_next(&self, state: &mut Admissions) -> Option<(Priority, Queued)> {
        if state.queue.is_empty() || !self.take_permit(state) {
            return None;
        }
        let next = state.queue.pop();
        self.show_depth(state);
        next
    }

    fn admit(&self, next: Option<(Priority, Queued)>) {
        if let Some((priority, Queued { since, waiter })) = next {
            self.0.metrics.waited(priority, since.elapsed());
            waiter(Permit::new(self));
        }
    }

    /// Offers a permit to the next gate, and skips operators that need none any more.
    fn offer(mut successor: Option<Arc<dyn WaitingGate>>) {
        while let Some(gate) = successor {
            successor = gate.offered();
        }
    }

    fn accept(&self) -> Option<(Priority, Queued)> {
        let mut state = self.state();
        state.is_queued = false;
        if !state.has_free_permit() || state.queue.is_empty() {
            return None;
        }
        state.enter();
        let next = state.queue.pop();
        self.show_depth(&state);
        next
    }

    /// Admits further waiters while permits are free, else queues again.
    fn admit_more(&self) {
        loop {
            let next = self.admit_next(&mut self.state());
            if next.is_none() {
                return;
            }
            self.admit(next);
        }
    }

    fn show_depth(&self, state: &Admissions) {
        for priority in Priority::ALL {
            self.0.metrics.depth(priority, state.queue.waiting(priority));
        }
    }

    fn state(&self) -> MutexGuard<'_, Admissions> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Gate {
    /// The permits of all operators.
    pub(super) fn shared_permits(&self) -> &SharedPermits {
        &self.0.permits
    }
}

impl WaitingGate for Shared {
    fn offered(self: Arc<Self>) -> Option<Arc<dyn WaitingGate>> {
        let gate = Gate(self);
        let next = gate.accept();
        let successor = if next.is_none() { gate.0.permits.give_back() } else { None };
        gate.admit(next);
        gate.admit_more();
        successor
    }
}

impl Admissions {
    fn has_free_permit(&self) -> bool {
        !self.is_closed && !self.is_held && self.in_flight < self.limit
    }

    /// One more is in flight, with a shared permit.
    fn enter(&mut self) {
        self.in_flight += 1;
        self.shared += 1;
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(f, "Gate({} of {} in flight)", state.in_flight, state.limit)
    }
}

impl Ticket {
    /// Raises the priority; does nothing if it is as urgent already.
    pub(crate) fn raise(&mut self, to: Priority) {
        let mut state = self.gate.state();
        self.position = state.queue.raise(self.position, to);
        self.gate.show_depth(&state);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        let waiting = state.queue.remove(self.position);
        self.gate.show_depth(&state);
        drop(state);
        // It may hold the last handle of an actor.
        drop(waiting);
    }
}

// === Permit ===

/// Longer than a reconcile that writes a few children takes, even with a busy server.
pub(super) const SHORT_RECONCILE: Duration = Duration::from_secs(1);

#[must_use]
pub(crate) struct Permit {
    gate: Gate,
    /// Whether it includes a shared permit.
    pub(super) is_shared: bool,
}

impl Permit {
    pub(super) fn new(gate: &Gate) -> Self {
        Self { gate: gate.clone(), is_shared: true }
    }

    /// The same permit without its shared part, for a reconcile that mostly awaits.
    pub(crate) fn unshared(mut self) -> Self {
        self.release_shared();
        self
    }

    /// Runs the future. After a second it continues without the shared permit.
    pub(crate) async fn during<T>(mut self, mut reconcile: Pin<&mut impl Future<Output = T>>) -> T {
        if let Ok(done) = tokio::time::timeout(SHORT_RECONCILE, &mut reconcile).await {
            return done;
        }
        self.release_shared();
        reconcile.await
    }

    pub(super) fn release_shared(&mut self) {
        if std::mem::take(&mut self.is_shared) {
            self.gate.release_shared();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.leave(self.is_shared);
    }
}
