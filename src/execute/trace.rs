//! The spans of a reconcile, for a program that exports traces. They name objects and quote nothing.
//!
//! Their level is DEBUG and their target [`TARGET`]: where no subscriber asks for these, a span costs a comparison and no
//! text is made. None is ever entered, so that log lines are the same with and without them.
//!
//! ```text
//! reconcile                 operator, parent, caused_by, continues, follows, outcome
//!   step                    one of the five, named in `step` when it ends
//!     apply, patch, ...     the requests of the step: object, wrote
//! ```
//!
//! `caused_by`, `continues` and `wrote` name an object at a version, so that a program finds the request that
//! made the change for which a parent is reconciled.

use tracing::{Span, debug_span, field::Empty};

use super::Context;
use crate::{
    history::{Cause, Outcome, ReconcileStep},
    object::{K8sType, ObjectKey, ResourceVersion},
    run::{Answer, Event, Reply, Request},
};

/// The target of the spans.
pub(crate) const TARGET: &str = "operetta::trace";

/// The spans of one reconcile in progress.
#[derive(Debug)]
pub(super) struct Spans {
    reconcile: Span,
    /// The step in progress.
    step: Span,
}

/// The span of a reconcile with these causes.
pub(crate) fn reconcile(context: &Context, key: &ObjectKey, causes: &[Cause]) -> Span {
    let parent = &context.config().parent;
    let span = debug_span!(
        target: TARGET, parent: None, "reconcile",
        operator = context.name().as_str(), parent = %named(parent, key),
        caused_by = Empty, continues = Empty, follows = Empty, outcome = Empty,
        otel.status_code = Empty, "error.type" = Empty,
    );
    if !span.is_disabled() {
        record(&span, (parent, key), causes);
    }
    span
}

fn record(span: &Span, (parent, key): (&K8sType, &ObjectKey), causes: &[Cause]) {
    let mut caused_by = Vec::new();
    for cause in causes {
        match cause {
            Cause::ParentChanged { to, .. } => {
                span.record("continues", at_version(parent, key, to));
            }
            Cause::ChildChanged(change) | Cause::RelatedChanged(change) => {
                let to = change.to.as_ref();
                caused_by.extend(to.map(|to| at_version(&change.ty, &change.key, to)));
            }
            Cause::OwnWrites | Cause::Retry | Cause::Recheck | Cause::Slowed | Cause::Calming => {
                span.record("follows", true);
            }
            _ => {}
        }
    }
    if !caused_by.is_empty() {
        span.record("caused_by", caused_by.join(", "));
    }
}

/// Records how a reconcile ended.
pub(super) fn ended(span: &Span, outcome: &Outcome) {
    span.record("outcome", outcome.name());
    if let Outcome::Failed { reason, .. } = outcome {
        span.record("otel.status_code", "ERROR").record("error.type", reason.name());
    }
}

impl Spans {
    pub(super) fn of(reconcile: &Span) -> Self {
        Self { reconcile: reconcile.clone(), step: step(reconcile) }
    }

    /// Nothing is traced.
    pub(super) fn none() -> Self {
        Self { reconcile: Span::none(), step: Span::none() }
    }

    /// An event arrived: what follows belongs to the next step, if the handler has returned.
    pub(super) fn arrived(&mut self, event: &Event) {
        if matches!(event, Event::HandlerReturned(_)) {
            self.step_ended(ReconcileStep::Sync);
            self.step = step(&self.reconcile);
        }
    }

    /// The machine took a step, in which these steps of the reconcile ended.
    pub(super) fn stepped(&mut self, ended: impl Iterator<Item = ReconcileStep>, is_last: bool) {
        // The span of the handler has ended when it returned.
        let mut ended = ended.filter(|step| *step != ReconcileStep::Sync).peekable();
        while let Some(step_ended) = ended.next() {
            self.step_ended(step_ended);
            let continues = !is_last || ended.peek().is_some();
            self.step = if continues { step(&self.reconcile) } else { Span::none() };
        }
        if is_last {
            self.step.record("step", "end");
            self.step = Span::none();
        }
    }

    fn step_ended(&self, ended: ReconcileStep) {
        self.step.record("step", ended.name());
    }

    /// A request of the step in progress.
    pub(super) fn request(&self, request: &Request) -> Span {
        debug_span!(
            target: TARGET, parent: &self.step, "request",
            otel.name = request.verb(), otel.kind = "client", object = %request.object(),
            wrote = Empty, otel.status_code = Empty, "error.type" = Empty,
        )
    }
}

/// The next step; it gets its name at its end, when the machine reports it.
fn step(reconcile: &Span) -> Span {
    if reconcile.is_disabled() {
        return Span::none();
    }
    debug_span!(target: TARGET, parent: reconcile, "step", step = Empty)
}

/// Ends the span of a request, before its answer is known to anyone.
#[expect(clippy::needless_pass_by_value, reason = "it ends here")]
pub(super) fn answered(span: Span, answer: &Answer) {
    if span.is_disabled() {
        return;
    }
    match answer {
        Ok(Reply::Written(object)) => {
            let wrote = at_version(object.ty(), object.key(), object.resource_version());
            span.record("wrote", wrote);
        }
        Ok(_) => {}
        Err(error) => {
            span.record("otel.status_code", "ERROR").record("error.type", error.kind());
        }
    }
}

fn named(ty: &K8sType, key: &ObjectKey) -> String {
    format!("{ty} {key}")
}

fn at_version(ty: &K8sType, key: &ObjectKey, version: &ResourceVersion) -> String {
    format!("{ty} {key}@{version}")
}
