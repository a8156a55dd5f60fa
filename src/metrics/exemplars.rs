//! Exemplars: the traces of the last reconciles, one for each bucket of their duration and one for each outcome. Only
//! `OpenMetrics` shows them. Their number depends on operators, as that of series does.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prometheus::proto::LabelPair;
use tracing::Span;

use super::family::RECONCILE_BUCKETS;

/// Finds the id of the trace of a span, as OpenTelemetry has it; `None` if it is not recorded.
pub(crate) type TraceIds = Box<dyn Fn(&Span) -> Option<[u8; 16]> + Send + Sync>;

/// The trace of a reconcile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(super) id: [u8; 16],
    /// When the reconcile ended.
    pub(super) ended: SystemTime,
}

#[derive(Debug, Default)]
pub(super) struct Exemplars(Mutex<BTreeMap<String, OfOperator>>);

#[derive(Debug, Default)]
struct OfOperator {
    /// By bucket, the last one without a limit.
    durations: [Option<Exemplar>; RECONCILE_BUCKETS.len() + 1],
    outcomes: BTreeMap<&'static str, Exemplar>,
}

/// What is behind a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exemplar {
    trace: Trace,
    value: f64,
}

impl Exemplars {
    /// Remembers a reconcile in place of an earlier one of its bucket, and of its outcome.
    pub(super) fn insert(
        &self,
        operator: &str,
        outcome: &'static str,
        took: Duration,
        trace: Trace,
    ) {
        let (value, mut operators) = (took.as_secs_f64(), self.operators());
        let of = operators.entry(operator.to_owned()).or_default();
        of.durations[bucket(value)] = Some(Exemplar { trace, value });
        of.outcomes.insert(outcome, Exemplar { trace, value: 1.0 });
    }

    pub(super) fn remove(&self, operator: &str) {
        self.operators().remove(operator);
    }

    /// The exemplar of a series of a counter, or of a bucket with its limit.
    pub(super) fn of(
        &self,
        metric: &str,
        labels: &[LabelPair],
        limit: Option<f64>,
    ) -> Option<Exemplar> {
        let label = |name: &str| labels.iter().find(|it| it.name() == name).map(LabelPair::value);
        let operators = self.operators();
        let of = operators.get(label("operator")?)?;
        match (metric, limit) {
            ("operetta_reconcile_duration_seconds", Some(limit)) => of.durations[bucket(limit)],
            ("operetta_reconciles_total", None) => of.outcomes.get(label("outcome")?).copied(),
            _ => None,
        }
    }

    fn operators(&self) -> MutexGuard<'_, BTreeMap<String, OfOperator>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a value is counted: in the first bucket whose limit it does not exceed.
fn bucket(value: f64) -> usize {
    RECONCILE_BUCKETS.partition_point(|limit| *limit < value)
}

impl Exemplar {
    /// As `OpenMetrics` has it, behind the value of a sample.
    pub(super) fn shown(self) -> String {
        let Self { trace: Trace { id, ended }, value } = self;
        let (id, since) =
            (u128::from_be_bytes(id), ended.duration_since(UNIX_EPOCH).unwrap_or_default());
        let (seconds, millis) = (since.as_secs(), since.subsec_millis());
        format!(" # {{trace_id=\"{id:032x}\"}} {value} {seconds}.{millis:03}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{history::Outcome, metrics::Metrics, operator::OperatorName};

    const ID: &str = "0102030405060708090a0b0c0d0e0f10";

    fn trace(last: u8) -> Trace {
        let id = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, last];
        Trace { id, ended: UNIX_EPOCH + Duration::from_millis(1500) }
    }

    fn reconciled(metrics: &Metrics, took: Duration, trace: Option<Trace>) {
        let operator = OperatorName::new("cook").unwrap();
        metrics.reconcile_started(&operator);
        metrics.reconcile_finished(&operator, &Outcome::Ready, took, trace);
    }

    fn with_exemplar(metrics: &Metrics) -> Vec<String> {
        let text = metrics.render_openmetrics();
        text.lines().filter(|line| line.contains(" # {")).map(str::to_owned).collect()
    }

    #[test]
    fn the_last_trace_is_shown_by_bucket_and_by_outcome() {
        let metrics = Metrics::new();
        reconciled(&metrics, Duration::from_millis(3), Some(trace(7)));
        reconciled(&metrics, Duration::from_millis(4), Some(trace(16)));
        reconciled(&metrics, Duration::from_secs(90), Some(trace(16)));
        let bucket = "operetta_reconcile_duration_seconds_bucket{operator=\"cook\",le=";
        assert_eq!(
            with_exemplar(&metrics),
            [
                format!("{bucket}\"0.005\"}} 2 # {{trace_id=\"{ID}\"}} 0.004 1.500"),
                format!("{bucket}\"+Inf\"}} 3 # {{trace_id=\"{ID}\"}} 90 1.500"),
                format!(
                    "operetta_reconciles_total{{operator=\"cook\",outcome=\"ready\"}} 3 # \
                     {{trace_id=\"{ID}\"}} 1 1.500"
                ),
            ]
        );
        let text = metrics.render();
        assert!(!text.contains(" # {") && !text.contains("trace_id"), "{text}");
        metrics.operator_removed(&OperatorName::new("cook").unwrap());
        assert!(metrics.exemplars().operators().is_empty());
    }

    #[test]
    fn the_value_of_an_exemplar_is_within_its_bucket() {
        for (index, limit) in RECONCILE_BUCKETS.iter().enumerate() {
            assert_eq!((bucket(*limit), bucket(limit * 1.01)), (index, index + 1));
        }
        assert_eq!((bucket(0.0), bucket(f64::INFINITY)), (0, RECONCILE_BUCKETS.len()));
    }

    #[test]
    fn a_reconcile_without_a_trace_has_no_exemplar() {
        let metrics = Metrics::new();
        reconciled(&metrics, Duration::from_millis(3), metrics.trace(&Span::none(), UNIX_EPOCH));
        assert_eq!(with_exemplar(&metrics), [""; 0]);
        let found = Metrics::with_trace_ids(Some(Box::new(|_| Some([9; 16]))));
        reconciled(&found, Duration::from_millis(3), found.trace(&Span::none(), UNIX_EPOCH));
        assert_eq!(with_exemplar(&found).len(), 2);
    }
}
