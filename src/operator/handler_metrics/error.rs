//! Why a metric of a handler cannot be made.

use super::kind::MetricKind;

/// A metric of a handler cannot be made. Returned by the handler, it fails the reconcile and is shown in the status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    /// The name is not valid.
    #[error(
        "the name of the metric {0:?} is not valid: use at most 64 lower-case letters, digits and `_`, with a \
         letter first, such as \"backups_total\""
    )]
    Name(String),
    /// The end of the name belongs to other kinds of metrics.
    #[error(
        "the name of the {kind} {name:?} misleads: only and all counters end in `_total`, and no name in \
         `_bucket`, `_sum` or `_count`, which belong to histograms"
    )]
    Suffix {
        /// The name.
        name: String,
        /// What it is the name of: `counter`, `gauge` or `histogram`.
        kind: &'static str,
    },
    /// The name of a label is not valid.
    #[error(
        "the label {label:?} of the metric {name:?} is not valid: use at most 64 lower-case letters, digits and \
         `_`, with a letter first; `operator` and `le` are taken, and each is used once, at most 8"
    )]
    Label {
        /// The name of the metric.
        name: String,
        /// The name of the label.
        label: String,
    },
    /// The metric is known as one of another kind.
    #[error(
        "the metric {name:?} is a {known} already, so it cannot be a {kind}: choose another name"
    )]
    OtherKind {
        /// The name.
        name: String,
        /// What it is.
        known: &'static str,
        /// What it was to be.
        kind: &'static str,
    },
    /// The metric is known with other labels.
    #[error("the metric {name:?} has the labels [{known}]: use the same names everywhere")]
    OtherLabels {
        /// The name.
        name: String,
        /// The names of its labels.
        known: String,
    },
    /// The buckets of a histogram are not valid, or it has other ones.
    #[error(
        "the buckets of the histogram {0:?} are not valid: use 1 to 30 finite numbers in increasing order, and the \
         same ones everywhere"
    )]
    Buckets(String),
}

impl MetricError {
    pub(super) fn other_kind(name: &str, known: MetricKind, kind: MetricKind) -> Self {
        Self::OtherKind { name: name.to_owned(), known: known.name(), kind: kind.name() }
    }
}
