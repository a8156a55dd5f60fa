//! Which Events are told about a parent, and as what: repetitions count up the first one, many that
//! are similar become one, and all together are limited. Pure: knows no clock and sends nothing.

use std::time::{Duration, Instant};

/// So many Events may follow each other at once.
const BURST: u32 = 25;
/// Then one is allowed in this time.
const REFILL: Duration = Duration::from_mins(5);
/// So much of the burst is kept for Warnings.
const RESERVE: u32 = 5;
/// What happens again within this time is the same Event: longer than the usual longest backoff.
const WINDOW: Duration = Duration::from_mins(30);
/// So many of one reason are told one by one; then all others of that reason are one.
const SIMILAR: usize = 10;
/// No more series are remembered.
const MAX_SERIES: usize = 16;

/// What was told about one parent. Small: contents are hashes.
#[derive(Debug)]
pub struct EventLog {
    bucket: TokenBucket,
    series: Vec<Series>,
}

/// The right to send so many Events, as data.
#[derive(Debug)]
struct TokenBucket {
    tokens: u32,
    since: Instant,
}

#[derive(Debug)]
struct Series {
    /// A hash of what happens.
    what: u64,
    /// A hash of what is similar; `what` is the same in the series of all that is similar.
    similar: u64,
    /// A hash by which the Event is named.
    name: u64,
    count: u32,
    last: Instant,
}

/// An Event to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    /// What tells its name from those of others.
    pub name: u64,
    /// How often it happened by now.
    pub count: u32,
    /// Whether that counts all that is similar.
    pub is_combined: bool,
}

/// Something that happened, as a hash.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence {
    /// The same for all that is the same.
    pub what: u64,
    /// The same for all that differs only in its words.
    pub similar: u64,
    /// Whether it reports trouble.
    pub is_warning: bool,
    /// What names the Event, should it be a new one.
    pub name: u64,
}

impl EventLog {
    /// Of a parent about which nothing was sent yet.
    pub fn new(now: Instant) -> Self {
        Self { bucket: TokenBucket { tokens: BURST, since: now }, series: Vec::new() }
    }

    /// Takes something in that happened; says as what, and whether it may be sent. It is counted all
    /// the same: the next Event of its series says how often it happened.
    pub fn occurred(&mut self, it: Occurrence, now: Instant) -> (Telling, bool) {
        self.series.retain(|series| now.saturating_duration_since(series.last) < WINDOW);
        let is_allowed = self.bucket.take(if it.is_warning { 0 } else { RESERVE }, now);
        let series = self.series_of(it, now);
        series.count = series.count.saturating_add(1);
        series.last = now;
        let is_combined = series.what == series.similar;
        (Telling { name: series.name, count: series.count, is_combined }, is_allowed)
    }

    fn series_of(&mut self, it: Occurrence, now: Instant) -> &mut Series {
        let position = |what: u64| self.series.iter().position(|series| series.what == what);
        let is_similar = |series: &&Series| series.similar == it.similar;
        let is_full = self.series.iter().filter(is_similar).count() >= SIMILAR;
        let what = if is_full && position(it.what).is_none() { it.similar } else { it.what };
        let at = position(what).unwrap_or_else(|| {
            if self.series.len() == MAX_SERIES {
                // The one that has been silent for longest.
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
    /// Takes a token unless only so many are left.
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
    fn what_happens_again_counts_up_the_same_event_until_it_pauses_for_long() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let told = |name, count| (Telling { name, count, is_combined: false }, true);
        assert_eq!(log.occurred(warning(1, 100), start), told(100, 1));
        assert_eq!(log.occurred(warning(2, 101), start), told(101, 1));
        let later = start + WINDOW / 2;
        assert_eq!(log.occurred(warning(1, 102), later), told(100, 2));
        assert_eq!(log.occurred(warning(2, 103), start + WINDOW), told(103, 1));
        assert_eq!(log.occurred(warning(1, 104), start + WINDOW), told(100, 3));
    }

    #[test]
    fn a_burst_is_followed_by_a_trickle_that_tells_what_was_missed() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let mut tell = |now| {
            let (telling, is_allowed) = log.occurred(warning(1, 100), now);
            is_allowed.then_some(telling.count)
        };
        let told = (0..40).filter(|_| tell(start).is_some()).count();
        assert_eq!(told, BURST as usize);
        assert_eq!(tell(start + REFILL * 9 / 10), None);
        assert_eq!(tell(start + REFILL), Some(42));
        assert_eq!(tell(start + REFILL), None);
        assert_eq!(tell(start + REFILL * 2), Some(44));
    }

    #[test]
    fn many_that_differ_only_in_their_words_become_one() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let mut tell = |what, similar| {
            let it = Occurrence { what, similar, is_warning: true, name: what };
            let (Telling { name, count, is_combined }, _) = log.occurred(it, start);
            (name, count, is_combined)
        };
        for what in 1..=10 {
            assert_eq!(tell(what, 0), (what, 1, false));
        }
        assert_eq!([11, 12, 13].map(|what| tell(what, 0)), [1, 2, 3].map(|n| (11, n, true)));
        assert_eq!(tell(10, 0), (10, 2, false), "it is told already");
        assert_eq!(tell(20, 9), (20, 1, false), "it is not similar");
    }

    #[test]
    fn what_is_normal_leaves_room_for_warnings() {
        let start = Instant::now();
        let mut log = EventLog::new(start);
        let normal = |name| Occurrence { what: name, similar: name + 100, is_warning: false, name };
        let told = (0..40).filter(|name| log.occurred(normal(*name), start).1).count();
        assert_eq!(told, (BURST - RESERVE) as usize);
        assert!(log.occurred(warning(99, 99), start).1);
        assert!(log.series.len() <= MAX_SERIES);
    }
}
