//! Heartbeats: whether actors and runtimes still make progress.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

pub(crate) const BEAT_EVERY: Duration = Duration::from_secs(5);

/// After this time without a heartbeat something is stuck. Heartbeats pass through the same queues as
/// all work, so the deadline leaves time for a long queue.
pub(crate) const BEAT_DEADLINE: Duration = Duration::from_secs(30);

/// The heartbeat of one actor or runtime. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Pulse(Arc<Inner>);

struct Inner {
    name: String,
    since: Instant,
    /// Milliseconds after `since`.
    last: AtomicU64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beat {
    /// Its name, such as `reflector/pods`.
    pub(crate) name: String,
    pub(crate) age: Duration,
}

#[derive(Clone, Default)]
pub(super) struct Pulses(Arc<Mutex<Vec<Pulse>>>);

impl Pulse {
    pub(crate) fn beat(&self, now: Instant) {
        let passed = now.saturating_duration_since(self.0.since).as_millis();
        self.0.last.store(u64::try_from(passed).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn at(&self, now: Instant) -> Beat {
        let last = Duration::from_millis(self.0.last.load(Ordering::Relaxed));
        let age = now.saturating_duration_since(self.0.since).saturating_sub(last);
        Beat { name: self.0.name.clone(), age }
    }
}

impl Beat {
    pub(crate) fn is_late(&self) -> bool {
        self.age > BEAT_DEADLINE
    }
}

impl Pulses {
    pub(super) fn add(&self, name: String, now: Instant) -> Pulse {
        let pulse = Pulse(Arc::new(Inner { name, since: now, last: AtomicU64::new(0) }));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pulse.clone());
        pulse
    }

    /// Removes the pulses of this name.
    pub(super) fn remove(&self, name: &str) {
        let mut pulses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pulses.retain(|pulse| pulse.0.name != name);
    }

    pub(super) fn all(&self, now: Instant) -> Vec<Beat> {
        let pulses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pulses.iter().map(|pulse| pulse.at(now)).collect()
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pulse({})", self.0.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_is_late_after_its_deadline_until_the_next_beat() {
        let (pulses, start) = (Pulses::default(), Instant::now());
        let pulse = pulses.add("reflector/pods".to_owned(), start);
        let is_late = |seconds: u64| pulses.all(start + Duration::from_secs(seconds))[0].is_late();
        assert!(!is_late(30) && is_late(31));
        pulse.beat(start + Duration::from_secs(31));
        assert!(!is_late(61) && is_late(62));
    }
}
