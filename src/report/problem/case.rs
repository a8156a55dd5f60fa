//! Why the API server refused a request about an object, as far as its answer shows. The sentences are those of
//! Kubernetes 1.33 to 1.37. Nothing is decided on them: they choose words and commands.

use super::{
    grant::Grant,
    lacking::{Lacking, Webhook},
    quota::{Demanded, Exceeded},
};
use crate::{
    plan::ChildId,
    reply::{ErrorClass, Refusal},
};

#[derive(Debug)]
pub(super) enum Case<'a> {
    /// The namespace does not exist.
    NoNamespace(&'a str),
    /// The namespace is being deleted.
    Terminating(&'a str),
    Permission(Grant<'a>),
    Quota(Exceeded<'a>),
    /// A quota counts what the containers do not ask for.
    Demanded(Demanded<'a>),
    /// It names an object that does not exist.
    Lacks(Lacking<'a>),
    /// A container asks for more or less than a `LimitRange` allows.
    LimitRange(&'a str),
    /// A Pod has more rights than its namespace allows: the level.
    PodSecurity(&'a str),
    WebhookDown(Webhook<'a>),
    /// The webhook, and what it says.
    Webhook(&'a str, &'a str),
    Policy(&'a str),
    /// Fields that cannot be changed.
    Immutable(String),
    /// Fields with wrong values.
    Invalid(String),
    Credentials,
    Throttled,
    NotServed,
    Other,
}

/// The most fields named.
pub(super) const FIELDS: usize = 3;

impl<'a> Case<'a> {
    /// `message` is the answer as it may be shown.
    pub(super) fn of(refusal: &'a Refusal, about: &'a ChildId, message: &'a str) -> Self {
        let namespace = about.key.namespace.as_deref();
        of_namespace(refusal, namespace)
            .or_else(|| Grant::read(message).map(Self::Permission))
            .or_else(|| of_admission(refusal, namespace, message))
            .or_else(|| of_fields(refusal))
            .unwrap_or(match refusal.code {
                401 => Self::Credentials,
                429 => Self::Throttled,
                _ if refusal.class() == ErrorClass::NotServed => Self::NotServed,
                _ => Self::Other,
            })
    }
}

fn of_namespace<'a>(refusal: &Refusal, namespace: Option<&'a str>) -> Option<Case<'a>> {
    let namespace = namespace?;
    if refusal.code == 404 && refusal.object.kind == "namespaces" {
        return Some(Case::NoNamespace(namespace));
    }
    let ends = refusal.causes.iter().any(|cause| cause.reason == "NamespaceTerminating");
    ends.then_some(Case::Terminating(namespace))
}

fn of_admission<'a>(
    refusal: &Refusal,
    namespace: Option<&'a str>,
    message: &'a str,
) -> Option<Case<'a>> {
    let by_others = Exceeded::read(message)
        .map(Case::Quota)
        .or_else(|| Demanded::read(message).map(Case::Demanded))
        .or_else(|| Webhook::down(message).map(Case::WebhookDown))
        .or_else(|| Lacking::read(message).map(Case::Lacks));
    if by_others.is_some() {
        return by_others;
    }
    if let Some((_, rest)) = message.split_once("admission webhook \"") {
        return rest
            .split_once("\" denied the request: ")
            .map(|(name, why)| Case::Webhook(name, why));
    }
    if let Some((_, rest)) = message.split_once("ValidatingAdmissionPolicy '") {
        return rest.split_once('\'').map(|(name, _)| Case::Policy(name));
    }
    let namespace = namespace.filter(|_| refusal.code == 403)?;
    if message.contains("violates PodSecurity \"") {
        return Some(Case::PodSecurity(level(message)?));
    }
    is_of_limits(message).then_some(Case::LimitRange(namespace))
}

/// The level of a message of `PodSecurity`, without its version.
fn level(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("violates PodSecurity \"")?;
    rest.split([':', '"']).next()
}

/// As the plugin `LimitRanger` says it.
fn is_of_limits(message: &str) -> bool {
    const WORDS: [&str; 4] = ["maximum ", "minimum ", "max limit to request ratio", "default "];
    message.contains(" per ") && WORDS.iter().any(|words| message.contains(words))
}

fn of_fields<'a>(refusal: &Refusal) -> Option<Case<'a>> {
    let fields = refusal.causes.iter().map(|cause| cause.field.as_str());
    let mut fields: Vec<&str> = fields.filter(|it| !it.is_empty() && *it != "<nil>").collect();
    fields.dedup();
    let named = fields.iter().take(FIELDS).copied().collect::<Vec<_>>().join(", ");
    match (refusal.is_by_validation() && !named.is_empty(), refusal.is_immutable()) {
        (true, true) => Some(Case::Immutable(named)),
        (true, false) => Some(Case::Invalid(named)),
        (false, _) => None,
    }
}
