//! A cache that is bounded in time and size: pure, a decision of the key and `now`.
//!
//! All entries have the same lifetime, so the oldest is evicted first. (`moka` would replace only this
//! file, at the cost of a dozen crates.)

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use crate::web::key::Key;

#[derive(Debug)]
pub(super) struct Cache<V> {
    entries: HashMap<Key, (V, Instant)>,
    /// Oldest first.
    order: VecDeque<(Key, Instant)>,
    life: Duration,
    capacity: usize,
}

impl<V> Cache<V> {
    pub(super) fn new(life: Duration, capacity: usize) -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new(), life, capacity }
    }

    /// A value that has not expired.
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<&V> {
        self.get_within(key, self.life, now)
    }

    /// A value that is younger than this, and has not expired.
    pub(super) fn get_within(&self, key: &Key, age: Duration, now: Instant) -> Option<&V> {
        let (value, since) = self.entries.get(key)?;
        (now.saturating_duration_since(*since) < self.life.min(age)).then_some(value)
    }

    pub(super) fn put(&mut self, key: Key, value: V, now: Instant) {
        self.remove(&key);
        while self.order.len() >= self.capacity || self.is_oldest_over(now) {
            let Some((oldest, _)) = self.order.pop_front() else { break };
            self.entries.remove(&oldest);
        }
        if self.capacity > 0 {
            self.entries.insert(key, (value, now));
            self.order.push_back((key, now));
        }
    }

    pub(super) fn remove(&mut self, key: &Key) {
        if self.entries.remove(key).is_some() {
            self.order.retain(|(kept, _)| kept != key);
        }
    }

    fn is_oldest_over(&self, now: Instant) -> bool {
        let oldest = self.order.front();
        oldest.is_some_and(|(_, since)| now.saturating_duration_since(*since) >= self.life)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_secs(10);

    fn key(number: u8) -> Key {
        Key::of(&[&[number]])
    }

    #[test]
    fn an_entry_expires_after_its_lifetime() {
        let now = Instant::now();
        let mut cache = Cache::new(LIFE, 3);
        cache.put(key(1), "one", now);
        assert_eq!(cache.get(&key(1), now + Duration::from_millis(9_999)), Some(&"one"));
        assert_eq!(cache.get(&key(1), now + LIFE), None);
        assert_eq!(cache.get(&key(2), now), None);
        cache.put(key(1), "two", now + LIFE);
        assert_eq!(cache.get(&key(1), now + LIFE), Some(&"two"));
    }

    #[test]
    fn the_oldest_entry_is_evicted_first() {
        let now = Instant::now();
        let mut cache = Cache::new(LIFE, 3);
        for number in 0..200 {
            cache.put(key(number), number, now);
            cache.put(key(number), number, now);
        }
        assert_eq!((cache.entries.len(), cache.order.len()), (3, 3));
        let kept: Vec<u8> = (0..200).filter(|n| cache.get(&key(*n), now).is_some()).collect();
        assert_eq!(kept, [197, 198, 199]);
    }

    #[test]
    fn expired_entries_are_removed() {
        let now = Instant::now();
        let mut cache = Cache::new(LIFE, 100);
        for number in 0..50 {
            cache.put(key(number), number, now);
        }
        cache.put(key(99), 99, now + LIFE);
        assert_eq!((cache.entries.len(), cache.order.len()), (1, 1));
    }
}
