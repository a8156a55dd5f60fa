//! Names the span of a step by the step. That is known when the span ends, and `tracing` names a span when it begins.

use std::time::Duration;

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

use super::known::text;

/// An exporter of spans with their names.
#[derive(Debug)]
pub(super) struct Named<E>(pub(super) E);

impl<E: SpanExporter> SpanExporter for Named<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in batch.iter_mut().filter(|span| span.name == "step") {
            if let Some(step) = text(&span.attributes, "step") {
                span.name = step.into();
            }
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
