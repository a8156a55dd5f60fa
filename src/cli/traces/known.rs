//! Which span made a version of an object, and which was the last reconcile of a parent.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use opentelemetry::{Context, KeyValue, trace::SpanContext};
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{Span, SpanData, SpanProcessor},
};

/// How many are remembered. A change arrives soon after the request that made it.
const MOST: usize = 8192;

/// The contexts of spans by what they are about. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(Arc<Mutex<Recent>>);

#[derive(Debug, Default)]
struct Recent {
    spans: HashMap<String, SpanContext>,
    /// The oldest first.
    order: VecDeque<String>,
}

impl Known {
    /// The span that is known for this.
    pub(super) fn get(&self, about: &str) -> Option<SpanContext> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spans.get(about).cloned()
    }

    /// Remembers a span, and forgets the oldest.
    pub(super) fn insert(&self, about: String, span: SpanContext) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.spans.insert(about.clone(), span).is_none() {
            recent.order.push_back(about);
        }
        if recent.order.len() > MOST
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.spans.remove(&oldest);
        }
    }
}

/// Remembers each request that wrote an object, before anyone is notified of the new version.
#[derive(Debug)]
pub(super) struct Remembering(pub(super) Known);

impl SpanProcessor for Remembering {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if let Some(wrote) = text(&span.attributes, "wrote") {
            self.0.insert(wrote, span.span_context);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// An attribute as text.
pub(super) fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key.as_str() == name)?;
    Some(found.value.as_str().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let known = Known::default();
        for number in 0..=MOST {
            known.insert(number.to_string(), SpanContext::empty_context());
        }
        assert!(known.get("0").is_none() && known.get("1").is_some());
    }
}
