//! Gives the span of a reconcile its parent and its links: a reconcile is a trace of its own, with links to the
//! requests that caused it; where a request made the parent what it is, its trace continues. A call of a webhook continues
//! that of the API server.

use std::collections::HashMap;

use opentelemetry::{
    Context,
    propagation::TextMapPropagator,
    trace::{Link, Span as _, SpanBuilder, SpanContext, TraceContextExt, Tracer},
};
use opentelemetry_sdk::{
    propagation::TraceContextPropagator,
    trace::{SdkTracer, Span},
};

use super::known::{Known, text};

/// A tracer that knows what caused a reconcile.
#[derive(Debug, Clone)]
pub(super) struct Linked {
    tracer: SdkTracer,
    known: Known,
}

impl Linked {
    pub(super) fn new(tracer: SdkTracer, known: Known) -> Self {
        Self { tracer, known }
    }
}

impl Tracer for Linked {
    type Span = Span;

    fn build_with_context(&self, mut builder: SpanBuilder, parent: &Context) -> Span {
        if builder.name != "reconcile" {
            let caller = traceparent(&builder);
            return self.tracer.build_with_context(builder, caller.as_ref().unwrap_or(parent));
        }
        let attributes = builder.attributes.as_deref().unwrap_or_default();
        let field = |name: &str| text(attributes, name).unwrap_or_default();
        let (caused_by, continues, follows) =
            (field("caused_by"), field("continues"), field("follows"));
        let itself = format!("{} {}", field("operator"), field("parent"));
        let links = caused_by.split(", ").filter_map(|object| self.known.get(object));
        let previous = (follows == "true").then(|| self.known.get(&itself)).flatten();
        // A trace continues once for a parent: the parent's own status would continue it for ever.
        let within = |span: &SpanContext| format!("{itself} in {}", span.trace_id());
        let continues = self.known.get(&continues);
        let is_own = continues.as_ref().is_some_and(|it| self.known.get(&within(it)).is_some());
        let (parent, own) = if is_own { (None, continues) } else { (continues, None) };
        let links = links.chain(previous).chain(own);
        builder
            .links
            .get_or_insert_default()
            .extend(links.map(|span| Link::new(span, Vec::new(), 0)));
        let parent = parent.map(|span| Context::new().with_remote_span_context(span));
        let span = self.tracer.build_with_context(builder, &parent.unwrap_or_default());
        let context = span.span_context().clone();
        self.known.insert(within(&context), context.clone());
        self.known.insert(itself, context);
        span
    }
}

/// The span of the API server that calls a webhook, if it is traced.
fn traceparent(builder: &SpanBuilder) -> Option<Context> {
    let header = text(builder.attributes.as_deref()?, "traceparent")?;
    let headers = HashMap::from([("traceparent".to_owned(), header)]);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    context.span().span_context().is_valid().then_some(context)
}
