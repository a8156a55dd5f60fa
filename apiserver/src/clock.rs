//! The time of the server, and the random names that it makes.
//!
//! Time follows tokio's clock, so that a test that pauses and advances it moves the timestamps of objects
//! too. Only this module reads the clock or generates random values.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The letters of generated names: no vowels, which could form words, and no ambiguous characters.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The time of the server.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Timestamp,
    since: Instant,
}

impl Clock {
    /// A clock that starts at the present time.
    pub(crate) fn new() -> Self {
        Self { start: Timestamp::now(), since: Instant::now() }
    }

    /// The time now.
    pub(crate) fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.since.elapsed()).unwrap_or_default();
        self.start.checked_add(elapsed).unwrap_or(self.start)
    }

    /// The time now as `metadata.creationTimestamp` is written: whole seconds.
    pub(crate) fn now_text(&self) -> String {
        seconds(self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// A time in whole seconds, as Kubernetes writes it.
pub(crate) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A source of uids and name suffixes; the same seed gives the same sequence.
#[derive(Debug)]
pub(crate) struct Ids(Mutex<u64>);

impl Ids {
    /// A source that starts at `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// Continues elsewhere in the sequence, so that what an earlier server drew does not come again.
    pub(crate) fn skip(&self, version: u64) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state ^= version.wrapping_mul(0xd1b5_4a32_d192_ed03);
    }

    /// A fresh uid.
    pub(crate) fn uid(&self) -> String {
        let (a, b) = (self.next(), self.next());
        let (time_low, time_mid) = (a >> 32, (a >> 16) & 0xffff);
        let version = 0x4000 | (a & 0x0fff);
        let variant = 0x8000 | ((b >> 48) & 0x3fff);
        let node = b & 0xffff_ffff_ffff;
        format!("{time_low:08x}-{time_mid:04x}-{version:04x}-{variant:04x}-{node:012x}")
    }

    /// Five characters to put behind a `generateName`.
    pub(crate) fn suffix(&self) -> String {
        let mut bits = self.next();
        let letters = ALPHABET.len() as u64;
        let mut letter = || {
            let index = usize::try_from(bits % letters).unwrap_or_default();
            bits /= letters;
            char::from(ALPHABET[index])
        };
        (0..5).map(|_| letter()).collect()
    }

    /// `SplitMix64`: small, seedable, and good enough for names that must differ, not for secrets.
    fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_have_the_form_of_random_uuids() {
        let uid = Ids::new(7).uid();
        let parts: Vec<usize> = uid.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&uid[14..15], "4");
        assert!(matches!(&uid[19..20], "8" | "9" | "a" | "b"));
    }

    #[test]
    fn suffixes_differ_and_use_the_alphabet() {
        let ids = Ids::new(1);
        let (one, two) = (ids.suffix(), ids.suffix());
        assert_ne!(one, two);
        assert!(one.bytes().all(|b| ALPHABET.contains(&b)) && one.len() == 5);
    }

    #[test]
    fn times_are_written_in_whole_seconds() {
        let time = Timestamp::from_second(0).expect("the epoch");
        assert_eq!(seconds(time), "1970-01-01T00:00:00Z");
    }
}
