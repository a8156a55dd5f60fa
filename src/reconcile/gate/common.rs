//! Places for runs that the operators of a process have in common.
//!
//! Each operator has [`OWN_PLACES`] that no other can take; beyond them it runs on common ones, of
//! which there are as many as the operator with the highest limit can use. So ten operators take
//! hardly more connections and memory than one, and ask the API server for no more at once; and one
//! whose handlers hang leaves the others their own. Who waits gets its turn in the order of asking,
//! one place at a time.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use super::Shared;

/// As many runs of an operator need no common place.
pub(super) const OWN_PLACES: usize = 2;

/// The common places of a process. Cheap to clone.
#[derive(Clone)]
pub struct CommonPlaces(Arc<Mutex<Places>>);

struct Places {
    /// None while somebody is in line.
    free: usize,
    /// Each gate is in it once at most.
    line: VecDeque<Weak<Shared>>,
}

impl CommonPlaces {
    /// Places for operators with these limits of their own.
    pub fn for_limits(limits: impl IntoIterator<Item = usize>) -> Self {
        let free = limits.into_iter().max().unwrap_or(0).saturating_sub(OWN_PLACES);
        Self(Arc::new(Mutex::new(Places { free, line: VecDeque::new() })))
    }

    /// Takes a place, or gets in line for one: from then on the gate is due for an offer, see
    /// [`give_back`](Self::give_back). In one step, so that no place is given up in between.
    pub(super) fn take_or_get_in_line(&self, gate: &Arc<Shared>) -> bool {
        let mut places = self.places();
        let is_free = places.free > 0;
        if is_free {
            places.free -= 1;
        } else {
            places.line.push_back(Arc::downgrade(gate));
        }
        is_free
    }

    /// Gives a place up, to the gate that is returned: it has to use it or give it back.
    pub(super) fn give_back(&self) -> Option<Arc<Shared>> {
        let mut places = self.places();
        while let Some(next) = places.line.pop_front() {
            if let Some(gate) = next.upgrade() {
                return Some(gate);
            }
        }
        places.free += 1;
        None
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CommonPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places();
        write!(f, "CommonPlaces({} free, {} in line)", places.free, places.line.len())
    }
}
