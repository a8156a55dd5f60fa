//! What is recorded of a call: counters, a span, and an entry of the timeline for a denial.

use tracing::{Span, debug_span, field::Empty};

use crate::{
    admission::Registered,
    board::{Board, Rejection},
    execute::TRACE_TARGET,
    metrics::{CONVERSION, CallOutcome, Metrics, WebhookCall},
    object::{K8sType, ObjectKey},
    operator::{
        OperatorName, Stores,
        admission::{AdmissionRequest, Denial, Webhook},
        conversion::Versions,
    },
    web::stores::listed_stores_of,
};

/// Where calls are recorded. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    pub(crate) board: Board,
    pub(crate) metrics: Metrics,
}

/// A call in progress.
pub(super) struct Seen<'a> {
    records: &'a Records,
    call: WebhookCall,
    span: Span,
    operation: Option<String>,
}

/// Who asks for what.
pub(super) struct Subject {
    key: ObjectKey,
    verb: String,
    user: String,
    is_dry_run: bool,
}

impl Records {
    /// Initializes the counters.
    pub(super) fn served(&self, registered: &Registered) {
        for webhook in registered.admissions() {
            let operations: Vec<_> = webhook.operations.iter().map(ToString::to_string).collect();
            self.metrics.webhook_served(&webhook.name(), &operations);
        }
        for versions in registered.conversions() {
            self.metrics.webhook_served(&versions.hub.resource_name(), &[CONVERSION.to_owned()]);
        }
    }

    /// A question about admission. `trace` is the header `traceparent`: an API server that is traced sends it.
    pub(super) fn admission(&self, webhook: &Webhook, trace: Option<&str>) -> Seen<'_> {
        let name = webhook.name();
        let span = debug_span!(
            target: TRACE_TARGET, parent: None, "admission", otel.kind = "server",
            webhook = name, traceparent = trace, review = Empty, operation = Empty, object = Empty,
            outcome = Empty, otel.status_code = Empty,
        );
        Seen { records: self, call: self.metrics.webhook_called(&name), span, operation: None }
    }

    /// Objects to convert.
    pub(super) fn conversion(&self, versions: &Versions, trace: Option<&str>) -> Seen<'_> {
        let name = versions.hub.resource_name();
        let span = debug_span!(
            target: TRACE_TARGET, parent: None, "conversion", otel.kind = "server",
            webhook = name, traceparent = trace, review = Empty, objects = Empty, outcome = Empty,
            otel.status_code = Empty,
        );
        let (call, operation) = (self.metrics.webhook_called(&name), Some(CONVERSION.to_owned()));
        Seen { records: self, call, span, operation }
    }

    /// The operator whose parents have this type, in whatever version.
    fn operator_of(&self, ty: &K8sType) -> Option<OperatorName> {
        let operators = self.board.operators().into_iter();
        let mut names = operators.map(|it| (it.info.config.parent.resource_name(), it.info.name));
        names.find(|(parent, _)| *parent == ty.resource_name()).map(|(_, name)| name)
    }
}

impl Seen<'_> {
    /// The review was read.
    pub(super) fn is_about(&mut self, request: &AdmissionRequest) -> Subject {
        let AdmissionRequest { uid, operation, key, user, dry_run, .. } = request;
        let operation = operation.to_string();
        self.span.record("review", uid).record("operation", &operation);
        self.span.record("object", key.to_string());
        let (verb, user) = (operation.to_lowercase(), user.username.clone());
        self.operation = Some(operation);
        Subject { key: key.clone(), verb, user, is_dry_run: *dry_run }
    }

    /// The review was read.
    pub(super) fn has_objects(&self, review: &str, count: usize) {
        self.span.record("review", review).record("objects", count);
    }

    /// What a handler may read.
    pub(super) fn stores(&self) -> Stores {
        listed_stores_of(&self.records.board)
    }

    /// The handler decided against it. A dry run is a question, and no event.
    pub(super) fn denied(&self, webhook: &Webhook, subject: Subject, denial: &Denial) {
        let Subject { key, verb, user, is_dry_run } = subject;
        self.call.denied(denial.reason.name());
        if is_dry_run {
            return;
        }
        let ty = &webhook.ty;
        // It may quote what must not be shown.
        let why = if ty.is("v1", "Secret") { denial.reason.name() } else { &denial.message };
        let why = format!("{} does not let them {verb} this {}: {why}", webhook.name(), ty.kind());
        let operator = self.records.operator_of(ty);
        self.records.board.record_rejection(&Rejection { operator, object: key, user, why });
    }

    pub(super) fn ended(self, outcome: CallOutcome) {
        self.span.record("outcome", outcome.name());
        if matches!(outcome, CallOutcome::Failed | CallOutcome::Late | CallOutcome::Unreadable) {
            self.span.record("otel.status_code", "ERROR");
        }
        self.call.ended(self.operation.as_deref(), outcome);
    }
}
