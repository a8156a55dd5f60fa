//! Until when this process may write.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::SinceBoot;

/// Until when this process may write, in nanoseconds since boot. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fence(Arc<AtomicU64>);

impl Fence {
    /// Opens it until then, or closes it.
    pub(crate) fn set(&self, until: Option<SinceBoot>) {
        let until = until.map_or(Duration::ZERO, |until| until.0);
        let nanos = u64::try_from(until.as_nanos()).unwrap_or(u64::MAX);
        self.0.store(nanos, Ordering::SeqCst);
    }

    /// How long it is open from now on.
    pub(crate) fn closes_in(&self, now: SinceBoot) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst)).saturating_sub(now.0)
    }

    /// Whether a write may be sent now.
    pub(crate) fn is_open(&self, now: SinceBoot) -> bool {
        now.0.as_nanos() < u128::from(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_closed_at_first_and_closes_by_itself() {
        let (fence, at) = (Fence::default(), |secs| SinceBoot(Duration::from_secs(secs)));
        assert!(!fence.is_open(at(0)));
        fence.set(Some(at(10)));
        assert!(fence.is_open(at(9)) && !fence.is_open(at(10)));
        fence.set(None);
        assert!(!fence.is_open(at(9)));
    }
}
