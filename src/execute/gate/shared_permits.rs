//! Places for runs that the operators of a process have in common.
//!
//! There are as many as the operator with the highest limit can use. Each operator has its own place
//! also when all are taken; beyond it, it needs one that is free. So ten operators take hardly more
//! connections and memory than one, and ask the API server for no more at once. Who waits gets its
//! turn in the order of asking, one place at a time.
//!
//! A reconcile that takes long gives its place up and goes on, see [`Permit::during`](super::Permit::during):
//! an operator whose handlers hang, or whose writes do, keeps the others waiting for a moment only.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// The common places of a process. Cheap to clone.
#[derive(Clone)]
pub struct SharedPermits(Arc<Mutex<Places>>);

/// Who waits in line for a place.
pub(super) trait InLine: Send + Sync {
    /// A place is offered. Who has no use for it gives it back; who has the place then comes back.
    fn offered(self: Arc<Self>) -> Option<Arc<dyn InLine>>;
}

struct Places {
    limit: usize,
    /// More than the limit where operators run on their own.
    taken: usize,
    /// Each gate is in it once at most.
    line: VecDeque<Weak<dyn InLine>>,
}

impl SharedPermits {
    /// Places for operators with these limits of their own.
    pub fn for_limits(limits: impl IntoIterator<Item = usize>) -> Self {
        let limit = limits.into_iter().max().unwrap_or(0);
        Self(Arc::new(Mutex::new(Places { limit, taken: 0, line: VecDeque::new() })))
    }

    /// Takes a place also where none is free.
    pub(super) fn take_own(&self) {
        self.places().taken += 1;
    }

    /// Takes a place, or gets in line for one: from then on the gate is due for an offer, see
    /// [`give_back`](Self::give_back). In one step, so that no place is given up in between.
    pub(super) fn take_or_get_in_line(&self, gate: &Arc<dyn InLine>) -> bool {
        let mut places = self.places();
        let is_free = places.taken < places.limit;
        if is_free {
            places.taken += 1;
        } else {
            places.line.push_back(Arc::downgrade(gate));
        }
        is_free
    }

    /// Gives a place up. If that is free now, the gate that is returned has it, and has to use it or
    /// to give it back.
    pub(super) fn give_back(&self) -> Option<Arc<dyn InLine>> {
        let mut places = self.places();
        places.taken -= 1;
        while places.taken < places.limit {
            if let Some(gate) = places.line.pop_front()?.upgrade() {
                places.taken += 1;
                return Some(gate);
            }
        }
        None
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedPermits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places();
        let Places { limit, taken, line } = &*places;
        write!(f, "SharedPermits({taken} of {limit} taken, {} in line)", line.len())
    }
}
