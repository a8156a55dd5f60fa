//! Permits for reconciles that the operators of a process share.
//!
//! Their number is the highest limit of an operator. Each operator has one permit of its own in addition;
//! further reconciles need a shared one. So ten operators take hardly more connections and memory than one,
//! and send no more concurrent requests. Waiting gates get one permit at a time, in the order of their
//! requests.
//!
//! A long reconcile releases its shared permit and continues, see [`Permit::during`](super::Permit::during):
//! an operator whose handlers or writes hang delays the others only briefly.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// The shared permits of a process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SharedPermits(Arc<Mutex<Pool>>);

/// A gate that waits for a shared permit.
pub(super) trait WaitingGate: Send + Sync {
    /// Offers a permit. A gate that needs none returns it; the result is the gate that has it then.
    fn offered(self: Arc<Self>) -> Option<Arc<dyn WaitingGate>>;
}

struct Pool {
    limit: usize,
    /// Can exceed the limit by the operators' own permits.
    taken: usize,
    /// Contains each gate at most once.
    queue: VecDeque<Weak<dyn WaitingGate>>,
}

impl SharedPermits {
    pub(crate) fn for_limits(limits: impl IntoIterator<Item = usize>) -> Self {
        let permits =
            Self(Arc::new(Mutex::new(Pool { limit: 0, taken: 0, queue: VecDeque::new() })));
        permits.set_limits(limits);
        permits
    }

    /// Sets the limits of all operators. Gates that wait get the additional permits as others are released.
    pub(crate) fn set_limits(&self, limits: impl IntoIterator<Item = usize>) {
        self.pool().limit = limits.into_iter().max().unwrap_or(0);
    }

    /// Takes a permit even if none is free.
    pub(super) fn take_own(&self) {
        self.pool().taken += 1;
    }

    /// Takes a permit, or queues for one: the gate is then offered one, see [`give_back`](Self::give_back).
    /// Atomic, so that no permit is released in between.
    pub(super) fn take_or_queue(&self, gate: &Arc<dyn WaitingGate>) -> bool {
        let mut pool = self.pool();
        let is_free = pool.taken < pool.limit;
        if is_free {
            pool.taken += 1;
        } else {
            pool.queue.push_back(Arc::downgrade(gate));
        }
        is_free
    }

    /// Releases a permit. The returned gate holds it, and must use it or give it back.
    pub(super) fn give_back(&self) -> Option<Arc<dyn WaitingGate>> {
        let mut pool = self.pool();
        pool.taken -= 1;
        while pool.taken < pool.limit {
            if let Some(gate) = pool.queue.pop_front()?.upgrade() {
                pool.taken += 1;
                return Some(gate);
            }
        }
        None
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedPermits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pool = self.pool();
        let Pool { limit, taken, queue } = &*pool;
        write!(f, "SharedPermits({taken} of {limit} taken, {} queued)", queue.len())
    }
}
