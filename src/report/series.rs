//! Which Events are sent about a parent: repetitions are counted, similar Events are combined, and the rate
//! is limited. Pure: reads no clock and sends nothing.

use std::time::{Duration, Instant};

const BURST: u32 = 25;
const REFILL: Duration = Duration::from_mins(5);
/// The part of the burst reserved for Warnings.
const RESERVE: u32 = 5;
/// Repetitions within this time count as one Event: longer than the usual longest backoff.
const WINDOW: Duration = Duration::from_mins(30);
/// The most separate Events of one reason; further ones are combined.
const SIMILAR: usize = 10;
/// The most series remembered.
const MAX_SERIES: usize = 16;

/// The Events about one parent. Small: contents are hashes.
#[derive(Debug)]
pub(crate) struct EventLog {
    bucket: TokenBucket,
    series: Vec<Series>,
}

/// A token bucket, as data.
#[derive(Debug)]
struct TokenBucket {
    tokens: u32,
    since: Instant,
}

#[derive(Debug)]
struct Series {
    /// A hash of the Event.
    what: u64,
    /// A hash of similar Events; equals `what` in the combined series.
    similar: u64,
    /// A hash for the name of the Event.
    name: u64,
    count: u32,
    last: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventToSend {
    /// The hash in its name.
    pub(crate) name: u64,
    pub(crate) count: u32,
    /// Whether the count includes similar Events.
    pub(crate) is_combined: bool,
}

/// An occurrence, as hashes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence {
    /// Equal for equal Events.
    pub(crate) what: u64,
    /// Equal for Events that differ only in their text.
    pub(crate) similar: u64,
    pub(crate) is_warning: bool,
    /// The name if the Event is new.
    pub(crate) name: u64,
}

impl EventLog {
    pub(crate) fn new(now: Instant) -> Self {
        Self { bucket: TokenBucket { tokens: BURST, since: now }, series: Vec::new() }
    }

    /// Records an occurrence; returns the Event, and whether it may be sent. It is counted in any case: the
    /// next Event of the series shows the count.
    pub(crate) fn occurred(&mut self, it: Occurrence, now: Instant) -> (EventToSend, bool) {
        self.series.retain(|series| now.saturating_duration_since(series.last) < WINDOW);
        let is_allowed = self.bucket.take(if it.is_warning { 0 } else { RESERVE }, now);
        let series = self.series_of(it, now);
        series.count = series.count.saturating_add(1);
        series.last = now;
        let is_combined = series.what == series.similar;
        (EventToSend { name: series.name, count: series.count, is_combined }, is_allowed)
    }

    fn series_of(&mut self, it: Occurrence, now: Instant) -> &mut Series {
        let position = |what: u64| self.series.iter().position(|series| series.what == what);
        let is_similar = |series: &&Series| series.similar == it.similar;
        let is_full = self.series.iter().filter(is_similar).count() >= SIMILAR;
        let what = if is_full && position(it.what).is_none() { it.similar } else { it.what };
        let at = position(what).unwrap_or_else(|| {
            if self.series.len() == MAX_SERIES {
                // Drops the series with the oldest Event.
                let last = self.series.iter().enumerate().min_by_key(|(_, series)| series.last);
                self.series.remove(last.map_or(0, |(at, _)| at));
            }
            let (similar, name) = (it.similar, it.name);
            self.series.push(Series { what, similar, name, count: 0, last: now });
            self.series.len() - 1
        });
        &mut self.series[at]
    }
}

impl TokenBucket {
    /// Takes a token unless only `reserve` are left.
    fn take(&mut self, reserve: u32, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.since).as_secs();
        let periods = u32::try_from(elapsed / REFILL.as_secs()).unwrap_or(u32::MAX).min(BURST);
        self.tokens = (self.tokens + periods).min(BURST);
        self.since = if self.tokens == BURST { now } else { self.since + REFILL * periods };
        let may = self.tokens > reserve;
        self.tokens -= u32::from(may);
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(what: u64, name: u64) -> Occurrence {
        Occurrence { what, similar: 0, is_warning: true, name }
    }

    #[test]
    fn repetitions_count_up_one_event_within_the_window() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let event = |name, count| (EventToSend { name, count, is_combined: false }, true);
        assert_eq!(log.occurred(warning(1, 100), start), event(100, 1));
        assert_eq!(log.occurred(warning(2, 101), start), event(101, 1));
        let later = start + WINDOW / 2;
        assert_eq!(log.occurred(warning(1, 102), later), event(100, 2));
        assert_eq!(log.occurred(warning(2, 103), start + WINDOW), event(103, 1));
        assert_eq!(log.occurred(warning(1, 104), start + WINDOW), event(100, 3));
    }

    #[test]
    fn a_burst_is_followed_by_one_event_per_period_with_the_full_count() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let mut send = |now| {
            let (event, is_allowed) = log.occurred(warning(1, 100), now);
            is_allowed.then_some(event.count)
        };
        let accepted = (0..40).filter(|_| send(start).is_some()).count();
        assert_eq!(accepted, BURST as usize);
        assert_eq!(send(start + REFILL * 9 / 10), None);
        assert_eq!(send(start + REFILL), Some(42));
        assert_eq!(send(start + REFILL), None);
        assert_eq!(send(start + REFILL * 2), Some(44));
    }

    #[test]
    fn similar_events_are_combined() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let mut send = |what, similar| {
            let it = Occurrence { what, similar, is_warning: true, name: what };
            let (EventToSend { name, count, is_combined }, _) = log.occurred(it, start);
            (name, count, is_combined)
        };
        for what in 1..=10 {
            assert_eq!(send(what, 0), (what, 1, false));
        }
        assert_eq!([11, 12, 13].map(|what| send(what, 0)), [1, 2, 3].map(|n| (11, n, true)));
        assert_eq!(send(10, 0), (10, 2, false), "it has a series already");
        assert_eq!(send(20, 9), (20, 1, false), "it is not similar");
    }

    #[test]
    fn normal_events_leave_tokens_for_warnings() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let normal = |name| Occurrence { what: name, similar: name + 100, is_warning: false, name };
        let sent = (0..40).filter(|name| log.occurred(normal(*name), start).1).count();
        assert_eq!(sent, (BURST - RESERVE) as usize);
        assert!(log.occurred(warning(99, 99), start).1);
        assert!(log.series.len() <= MAX_SERIES);
    }
}
