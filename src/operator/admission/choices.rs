//! What is chosen for a webhook, with what the API server has by default.

use serde::Serialize;

/// Whether a webhook may change objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WebhookKind {
    /// It allows or denies.
    Validating,
    /// It may change the object, too.
    Mutating,
}

/// What the API server does when a webhook does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// It refuses the request: nothing passes unseen.
    #[default]
    Fail,
    /// It continues as if the webhook had allowed the request.
    Ignore,
}

/// Whether a handler changes something outside of the object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SideEffects {
    /// It changes nothing.
    #[default]
    None,
    /// It changes nothing when [`dry_run`](super::AdmissionRequest::dry_run) is set.
    NoneOnDryRun,
}

/// Whether a mutating webhook is asked again when a later one changed the object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reinvocation {
    /// It is asked once.
    #[default]
    Never,
    /// It is asked again: its handler changes nothing the second time.
    IfNeeded,
}

/// An expression in CEL that must be true for the webhook to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchCondition {
    /// Its name, for messages of the API server.
    pub name: String,
    /// The expression, over `object`, `oldObject`, `request` and `authorizer`.
    pub expression: String,
}
