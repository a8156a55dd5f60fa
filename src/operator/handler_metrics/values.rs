//! The value of one series. Updates take no lock, and cheap clones share it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// A number that only grows. Made by [`HandlerMetrics::counter`](super::HandlerMetrics::counter).
#[derive(Debug, Clone)]
pub struct Counter(pub(super) Shared);

/// A number that goes up and down. Made by [`HandlerMetrics::gauge`](super::HandlerMetrics::gauge).
#[derive(Debug, Clone)]
pub struct Gauge(pub(super) Shared);

/// The distribution of observed numbers. Made by [`HandlerMetrics::histogram`](super::HandlerMetrics::histogram).
#[derive(Debug, Clone)]
pub struct Histogram(pub(super) Shared);

/// A value, and the number of updates beyond a limit if it is that of an overflow.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) value: Arc<Value>,
    pub(super) beyond: Option<Arc<AtomicU64>>,
}

/// A floating-point number.
#[derive(Debug, Default)]
pub(super) struct Number(AtomicU64);

/// The value of a series of any kind.
#[derive(Debug)]
pub(super) struct Value {
    /// The number of a counter or a gauge, or the sum of what a histogram observed.
    pub(super) number: Number,
    /// The upper limits of the buckets of a histogram but the last, in increasing order.
    pub(super) limits: Box<[f64]>,
    /// How many numbers each bucket has; none for others.
    pub(super) counts: Box<[AtomicU64]>,
}

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.add(1.0);
    }

    /// Adds a number. One that is negative or not finite is ignored.
    pub fn add(&self, by: f64) {
        if by.is_finite() && by >= 0.0 {
            self.0.updated().number.add(by);
        }
    }
}

impl Gauge {
    /// Sets the number.
    pub fn set(&self, to: f64) {
        self.0.updated().number.set(to);
    }

    /// Adds a number, which may be negative. One that is not finite is ignored.
    pub fn add(&self, by: f64) {
        if by.is_finite() {
            self.0.updated().number.add(by);
        }
    }
}

impl Histogram {
    /// Counts a number, such as a duration in seconds. One that is not finite is ignored.
    pub fn observe(&self, number: f64) {
        if number.is_finite() {
            self.0.updated().observe(number);
        }
    }
}

impl Shared {
    fn updated(&self) -> &Value {
        if let Some(beyond) = &self.beyond {
            beyond.fetch_add(1, Relaxed);
        }
        &self.value
    }
}

impl Number {
    pub(super) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }

    fn set(&self, to: f64) {
        self.0.store(to.to_bits(), Relaxed);
    }

    fn add(&self, by: f64) {
        let sum = |bits| Some((f64::from_bits(bits) + by).to_bits());
        // The closure always returns a value.
        let _ = self.0.fetch_update(Relaxed, Relaxed, sum);
    }
}

impl Value {
    /// Without limits, that of a counter or a gauge.
    pub(super) fn new(limits: &[f64]) -> Self {
        let buckets = if limits.is_empty() { 0 } else { limits.len() + 1 };
        let counts = (0..buckets).map(|_| AtomicU64::new(0)).collect();
        Self { number: Number::default(), limits: limits.into(), counts }
    }

    fn observe(&self, number: f64) {
        let bucket = self.limits.partition_point(|limit| *limit < number);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Relaxed);
        }
        self.number.add(number);
    }

    /// How many numbers a histogram has observed.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Relaxed)).sum()
    }
}
