//! What is counted of webhooks.

use std::time::Instant;

use prometheus::IntGauge;

use super::Metrics;

/// How a call of a webhook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The object may be stored as it is.
    Allowed,
    /// It may be stored as the handler changed it.
    Changed,
    /// The handler decided against it.
    Denied,
    /// All objects are converted.
    Converted,
    /// The handler returned an error or panicked.
    Failed,
    /// The handler did not return in time, or too many calls were in progress.
    Late,
    /// The review cannot be read, or is about another type.
    Unreadable,
}

/// A call in progress.
#[derive(Debug)]
pub(crate) struct WebhookCall {
    metrics: Metrics,
    webhook: String,
    in_flight: IntGauge,
    began: Instant,
}

impl CallOutcome {
    /// The outcomes of a review that can be read.
    const OF_ADMISSION: [Self; 5] =
        [Self::Allowed, Self::Changed, Self::Denied, Self::Failed, Self::Late];
    const OF_CONVERSION: [Self; 3] = [Self::Converted, Self::Failed, Self::Late];

    /// The value of the label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Changed => "changed",
            Self::Denied => "denied",
            Self::Converted => "converted",
            Self::Failed => "failed",
            Self::Late => "late",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The operation of a conversion, beside those of admission.
pub(crate) const CONVERSION: &str = "CONVERT";
/// That of a review that cannot be read.
const UNKNOWN: &str = "unknown";

impl Metrics {
    /// Initializes the counters of a webhook that is asked for these operations.
    pub(crate) fn webhook_served(&self, webhook: &str, operations: &[String]) {
        let outcomes: &[CallOutcome] = match operations {
            [only] if only == CONVERSION => &CallOutcome::OF_CONVERSION,
            _ => &CallOutcome::OF_ADMISSION,
        };
        let families = self.families();
        for operation in operations {
            for outcome in outcomes {
                let labels = [webhook, operation, outcome.name()];
                families.webhook_requests.with_label_values(&labels).inc_by(0);
            }
        }
        families.webhook_in_flight.with_label_values(&[webhook]).set(0);
    }

    /// A call began.
    pub(crate) fn webhook_called(&self, webhook: &str) -> WebhookCall {
        let in_flight = self.families().webhook_in_flight.with_label_values(&[webhook]);
        in_flight.inc();
        let (metrics, webhook, began) = (self.clone(), webhook.to_owned(), Instant::now());
        WebhookCall { metrics, webhook, in_flight, began }
    }
}

impl WebhookCall {
    /// It was answered; `operation` is absent if the review cannot be read.
    pub(crate) fn ended(self, operation: Option<&str>, outcome: CallOutcome) {
        let families = self.metrics.families();
        let labels = [&self.webhook, operation.unwrap_or(UNKNOWN), outcome.name()];
        families.webhook_requests.with_label_values(&labels).inc();
        let took = self.began.elapsed();
        families.webhook_duration.with_label_values(&[&self.webhook]).observe(took.as_secs_f64());
    }

    /// It is a denial for this reason.
    pub(crate) fn denied(&self, reason: &str) {
        let labels = [self.webhook.as_str(), reason];
        self.metrics.families().webhook_denied.with_label_values(&labels).inc();
    }
}

impl Drop for WebhookCall {
    /// Also of a call that nobody waits for any more.
    fn drop(&mut self) {
        self.in_flight.dec();
    }
}
