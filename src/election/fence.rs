//! Until when this process may write, and how many of its writes are unanswered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;

use super::SinceBoot;

/// Until when this process may write. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Fence(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// In nanoseconds since boot. Who waits for its end is woken when it is moved.
    until: watch::Sender<u64>,
    is_sealed: AtomicBool,
    in_flight: AtomicUsize,
}

/// Where the writes of a former leader are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FenceReach {
    /// Before a request is sent, and at its connection to the API server.
    Server,
    /// The same, but the connection ends at a proxy.
    Proxy,
    /// Before a request is sent alone.
    Requests,
}

impl FenceReach {
    /// What another process has to expect; `None` if nothing.
    pub(crate) fn weakness(self) -> Option<&'static str> {
        match self {
            Self::Server => None,
            Self::Proxy => Some(
                "connections with unanswered writes are reset at the proxy, which may still pass on what it has \
                 received: such a write can take effect while another process leads",
            ),
            Self::Requests => Some(
                "the program made the client itself, so that its connections are not reset: a write that was \
                 sent can take effect while another process leads. Use `connect_to`, or return a configuration \
                 from `connect`",
            ),
        }
    }
}

/// A write that is not answered yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Writing(Fence);

impl Default for Fence {
    fn default() -> Self {
        let (is_sealed, in_flight) = <_>::default();
        Self(Arc::new(Shared { until: watch::Sender::new(0), is_sealed, in_flight }))
    }
}

impl Fence {
    /// Opens it until then, or closes it.
    pub(crate) fn set(&self, until: Option<SinceBoot>) {
        let until = until.map_or(Duration::ZERO, |until| until.0);
        let nanos = u64::try_from(until.as_nanos()).unwrap_or(u64::MAX);
        // Under the lock of the value, so that it is not opened behind a seal.
        self.0.until.send_if_modified(|known| {
            let nanos = if self.0.is_sealed.load(Ordering::SeqCst) { 0 } else { nanos };
            std::mem::replace(known, nanos) != nanos
        });
    }

    /// Closes it for ever.
    pub(crate) fn seal(&self) {
        self.0.is_sealed.store(true, Ordering::SeqCst);
        self.set(None);
    }

    /// How long it is open from now on.
    pub(crate) fn closes_in(&self, now: SinceBoot) -> Duration {
        Duration::from_nanos(*self.0.until.borrow()).saturating_sub(now.0)
    }

    /// Whether a write may be sent now.
    pub(crate) fn is_open(&self, now: SinceBoot) -> bool {
        now.0.as_nanos() < u128::from(*self.0.until.borrow())
    }

    /// Returns the next time that it is opened, closed or moved.
    pub(crate) fn moves(&self) -> watch::Receiver<u64> {
        self.0.until.subscribe()
    }

    /// Counts a write until the value is dropped.
    pub(crate) fn writing(&self) -> Writing {
        self.0.in_flight.fetch_add(1, Ordering::SeqCst);
        Writing(self.clone())
    }

    /// Whether a write may still take effect.
    pub(crate) fn has_writes(&self) -> bool {
        self.0.in_flight.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> SinceBoot {
        SinceBoot(Duration::from_secs(secs))
    }

    #[test]
    fn it_is_closed_at_first_and_closes_by_itself() {
        let fence = Fence::default();
        assert!(!fence.is_open(at(0)));
        fence.set(Some(at(10)));
        assert!(fence.is_open(at(9)) && !fence.is_open(at(10)));
        fence.set(None);
        assert!(!fence.is_open(at(9)));
    }

    #[test]
    fn a_sealed_one_is_never_opened_again_and_who_waits_is_woken() {
        let fence = Fence::default();
        fence.set(Some(at(10)));
        let moves = fence.moves();
        fence.seal();
        assert!(moves.has_changed().unwrap());
        fence.set(Some(at(20)));
        assert!(!fence.is_open(at(0)));
    }

    #[test]
    fn it_counts_the_writes_that_are_not_answered() {
        let fence = Fence::default();
        let (one, other) = (fence.writing(), fence.clone().writing());
        drop(one);
        assert!(fence.has_writes());
        drop(other);
        assert!(!fence.has_writes());
    }
}
