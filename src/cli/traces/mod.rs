//! OpenTelemetry traces by OTLP over HTTP: a trace for each reconcile. Off unless `--otlp-endpoint` is given.
//!
//! ```text
//! spans of operetta --> layer --> Linked (parent, links) --> SDK --> Remembering
//!                                    |                        '--> queue, in a thread --> Named --> Sender --> collector
//!                                    '------- Known <-----------------'
//! ```
//!
//! Invariants:
//! - a collector that is slow or gone delays nothing: the queue is bounded, and what does not fit is dropped;
//! - nothing is written to objects: which request made a version is remembered in this process.

use std::{env, time::Duration};

use anyhow::Context;
use http::Uri;
use opentelemetry::{
    KeyValue,
    trace::{TraceContextExt, TracerProvider},
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::runtime::Runtime;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use self::{
    known::{Known, Remembering},
    linked::Linked,
    named::Named,
    sender::Sender,
};
use crate::{cli::address::Address, execute::TRACE_TARGET};

mod known;
mod linked;
mod named;
mod sender;

/// How long the end of the process waits for the last spans.
const LAST: Duration = Duration::from_millis(400);

/// The sending of spans, until it is dropped.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    known: Known,
    /// Sends. It is not that of the operators, which ends before the last span is sent.
    runtime: Option<Runtime>,
}

impl Traces {
    /// Starts sending to a collector.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn to(endpoint: &Address) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("otlp")
            .enable_all()
            .build()?;
        let sender = Sender::new(endpoint, runtime.handle()).context("--otlp-endpoint")?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(sender)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(traces_of(endpoint.uri()))
            .build()
            .context("--otlp-endpoint")?;
        let known = Known::default();
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        // As OpenTelemetry has it; without a name it would be unknown.
        let name = env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| "operetta".to_owned());
        let provider = SdkTracerProvider::builder()
            .with_resource(
                Resource::builder().with_service_name(name).with_attribute(version).build(),
            )
            .with_span_processor(Remembering(known.clone()))
            .with_batch_exporter(Named(exporter))
            .build();
        Ok(Self { provider, known, runtime: Some(runtime) })
    }

    /// What turns the spans of Operetta into those of OpenTelemetry.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let tracer = Linked::new(self.provider.tracer("operetta"), self.known.clone());
        let ours = filter_fn(|metadata| metadata.is_span() && metadata.target() == TRACE_TARGET);
        tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(ours.with_max_level_hint(LevelFilter::DEBUG))
    }

    /// The trace of a span, if it is recorded.
    pub fn id_of(span: &tracing::Span) -> Option<[u8; 16]> {
        let context = span.context();
        let span = context.span();
        let found = span.span_context();
        (found.is_valid() && found.is_sampled()).then(|| found.trace_id().to_bytes())
    }
}

impl Drop for Traces {
    /// Sends what is left.
    fn drop(&mut self) {
        // The sender has logged why it cannot send.
        let _ = self.provider.shutdown_with_timeout(LAST);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The path of traces, unless the endpoint has a path.
fn traces_of(endpoint: &Uri) -> String {
    let text = endpoint.to_string();
    match endpoint.path() {
        "" | "/" => format!("{}/v1/traces", text.trim_end_matches('/')),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
