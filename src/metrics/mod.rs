//! Every metric of the process, named once.
//!
//! Layer 7, and the only module that uses `prometheus`. Nothing is labelled with a parent: the
//! number of series depends on operators and types, not on objects. Traces of reconciles are exemplars, one per
//! bucket and outcome.
//!
//! ```text
//! execute, cluster, actors ----facts--> Metrics --render--> web (/metrics: text, or OpenMetrics)
//! board (gauges, at each scrape) ---------^
//! ```

mod activity;
mod attempts;
#[cfg(feature = "certificates")]
mod certificates;
mod counting;
mod custom;
mod described;
mod exemplars;
mod facts;
mod family;
mod leader;
mod mailbox;
mod managers;
mod migration;
mod openmetrics;
mod process;
mod registered;
mod scraped;
mod standing;
mod type_labels;
mod webhooks;

pub(crate) use activity::{Activity, Work};
pub(crate) use attempts::{Attempt, AttemptOutcome};
pub use counting::Metrics;
pub(crate) use counting::{QueueMetrics, StepMetrics};
pub use described::MetricDescription;
pub(crate) use exemplars::TraceIds;
pub(crate) use leader::Renewal;
pub(crate) use mailbox::{InMailbox, MailboxDepth};
pub(crate) use scraped::CacheGauges;
pub(crate) use standing::Standing;
pub(crate) use webhooks::{CONVERSION, CallOutcome, WebhookCall};

#[cfg(test)]
mod tests;
