mod error;
mod exported;
mod family;
mod kind;
mod names;
mod registry;
mod state;
mod values;

pub use error::MetricError;
pub(crate) use exported::{ExportedFamily, ExportedSeries};
pub(crate) use kind::MetricKind;
pub(crate) use names::PREFIX;
pub use registry::HandlerMetrics;
pub(crate) use registry::Overflow;
pub use values::{Counter, Gauge, Histogram};

#[cfg(test)]
mod tests;
