//! The metrics of one operator, by name.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use super::{
    MetricError,
    exported::ExportedFamily,
    kind::MetricKind,
    names,
    state::{Asked, State},
    values::{Counter, Gauge, Histogram, Shared},
};

const MAX_BUCKETS: usize = 30;

/// The metrics that a handler counts itself, see [`SyncRequest::metrics`](crate::operator::SyncRequest::metrics). Cheap
/// to clone; all clones are the same.
///
/// A metric is made where it is first used, and found by its name from then on. `/metrics` shows it as
/// `operetta_custom_<name>` with the label `operator`, as long as the operator is registered.
///
/// An operator has at most 50 metrics of at most 100 series. What is beyond counts in one series whose labels are
/// all `(overflow)`, and further metrics are not shown; the log names them once, and
/// `operetta_handler_metric_overflows_total` counts the updates. So a label has few values: never the name of a
/// parent.
///
/// ```
/// use operetta::prelude::*;
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let metrics = request.metrics();
///     let restores = metrics.counter("restores_total", "Restores, by source.", &[("source", "s3")])?;
///     restores.inc();
///     let seconds = "How long restores took.";
///     metrics.histogram("restore_seconds", seconds, &[], &[1.0, 10.0, 60.0])?.observe(7.0);
///     Ok(SyncResponse::new())
/// }
/// # let parent = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// # let request = SyncRequest::example(&parent, serde_json::json!({"metadata": {"name": "a"}}))?;
/// # sync(&request)?;
/// # assert_eq!(request.metrics().value("restores_total", &[("source", "s3")]), Some(1.0));
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct HandlerMetrics(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// The updates beyond a limit since they were read.
    beyond: Arc<AtomicU64>,
}

/// What was beyond a limit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Overflow {
    pub(crate) updates: u64,
    /// What is logged, once for each metric.
    pub(crate) news: Vec<String>,
}

impl HandlerMetrics {
    /// A number that only grows, such as `backups_total`. The labels are pairs of a name and a value.
    ///
    /// # Errors
    /// A name is not valid, or the metric is known as one of another kind or with other labels.
    pub fn counter(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
    ) -> Result<Counter, MetricError> {
        self.series(MetricKind::Counter, name, help, labels, &[]).map(Counter)
    }

    /// A number that goes up and down, such as `backups_pending`.
    ///
    /// # Errors
    /// Those of [`counter`](Self::counter).
    pub fn gauge(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
    ) -> Result<Gauge, MetricError> {
        self.series(MetricKind::Gauge, name, help, labels, &[]).map(Gauge)
    }

    /// The distribution of numbers, such as `backup_seconds`, in these buckets: their upper limits in increasing
    /// order. One without a limit is added.
    ///
    /// # Errors
    /// Those of [`counter`](Self::counter), or the buckets are not valid or others than before.
    pub fn histogram(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        buckets: &[f64],
    ) -> Result<Histogram, MetricError> {
        let is_valid = (1..=MAX_BUCKETS).contains(&buckets.len())
            && buckets.iter().all(|limit| limit.is_finite())
            && buckets.is_sorted_by(|one, other| one < other);
        if !is_valid {
            return Err(MetricError::Buckets(name.chars().take(64).collect()));
        }
        self.series(MetricKind::Histogram, name, help, labels, buckets).map(Histogram)
    }

    /// Removes a series, such as that of something that no longer exists; returns whether it was there.
    pub fn remove(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        let Ok((names, values)) = names::labels(name, labels) else { return false };
        let mut state = self.state();
        let family = state.families.get_mut(name).filter(|family| family.labels == names);
        family.is_some_and(|family| family.series.remove(&values).is_some())
    }

    /// The value of a series, for tests: of a histogram how many numbers it observed. `None` if there is none.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let (names, values) = names::labels(name, labels).ok()?;
        let state = self.state();
        let family = state.families.get(name).filter(|family| family.labels == names)?;
        let value = family.series.get(&values)?;
        Some(match family.kind {
            MetricKind::Counter | MetricKind::Gauge => value.number.get(),
            #[expect(clippy::cast_precision_loss, reason = "a test does not count that far")]
            MetricKind::Histogram => value.count() as f64,
        })
    }

    /// Everything, by name.
    pub(crate) fn exported(&self) -> Vec<ExportedFamily> {
        let state = self.state();
        state.families.iter().map(|(name, family)| ExportedFamily::of(name, family)).collect()
    }

    /// What was beyond a limit since the last call.
    pub(crate) fn take_overflow(&self) -> Overflow {
        match self.0.beyond.swap(0, Relaxed) {
            0 => Overflow::default(),
            updates => Overflow { updates, news: std::mem::take(&mut self.state().news) },
        }
    }

    fn series(
        &self,
        kind: MetricKind,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        limits: &[f64],
    ) -> Result<Shared, MetricError> {
        names::check(name, kind)?;
        let (labels, values) = names::labels(name, labels)?;
        let asked = Asked { kind, name, help, labels, values, limits };
        let (value, is_beyond) = self.state().series(asked)?;
        Ok(Shared { value, beyond: is_beyond.then(|| self.0.beyond.clone()) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for HandlerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerMetrics")
    }
}
