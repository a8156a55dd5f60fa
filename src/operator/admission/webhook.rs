//! A webhook: a handler, and what the API server asks it about.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Admits, FailurePolicy, IntoMutator, IntoValidator, MatchCondition, Operation, Reinvocation,
    SideEffects, WebhookKind,
};
use crate::object::{K8sType, TypedResource};

/// A handler that the API server asks before it stores an object: [`validate`](Self::validate) allows or denies,
/// [`mutate`](Self::mutate) may change the object first.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::{operator::admission::{Admission, AdmissionRequest, Webhook}, prelude::*};
///
/// fn no_salt(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
///     let data = request.subject().data.as_ref();
///     Ok(match data.and_then(|data| data.get("salt")) {
///         Some(salt) if salt == "much" => Admission::invalid("data.salt", "too much"),
///         _ => Admission::allow(),
///     })
/// }
///
/// let webhook = Webhook::validate("no-salt", no_salt);
/// assert_eq!(webhook.name(), "no-salt.configmaps.core");
/// ```
#[derive(Clone)]
#[must_use]
pub struct Webhook {
    pub(crate) short_name: String,
    pub(crate) kind: WebhookKind,
    pub(crate) ty: K8sType,
    pub(crate) handler: Arc<dyn Admits>,
    pub(crate) operations: BTreeSet<Operation>,
    pub(crate) subresource: Option<String>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) match_conditions: Vec<MatchCondition>,
    pub(crate) namespace_selector: Option<Value>,
    pub(crate) object_selector: Option<Value>,
    pub(crate) side_effects: SideEffects,
    pub(crate) reinvocation: Reinvocation,
    pub(crate) timeout: Duration,
    pub(crate) reads: BTreeSet<K8sType>,
}

/// A webhook cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// Its name is no DNS label.
    #[error(
        "the webhook `{0}`: a name has lower case letters, digits and `-`, begins with a letter, and has at most 63 \
         characters"
    )]
    Name(String),
    /// Another one has the same name.
    #[error("the webhook {0} is registered twice: give one of both another name")]
    Twice(String),
    /// It is asked about nothing.
    #[error("the webhook {0} has no operations: leave `on` out, or name one")]
    NoOperations(String),
    /// The API server allows between 1 and 30 seconds.
    #[error("the webhook {0} has a timeout of {1} s: the API server allows 1 to 30")]
    Timeout(String, u64),
    /// The API server allows 64 match conditions.
    #[error("the webhook {0} has {1} match conditions: the API server allows 64")]
    Conditions(String, usize),
}

/// That of the API server by default.
const TIMEOUT: Duration = Duration::from_secs(10);
const LONGEST_NAME: usize = 63;
const MAX_CONDITIONS: usize = 64;

impl Webhook {
    /// Asks a handler whether objects of a Rust type may be created and changed.
    ///
    /// `name` is a DNS label, which the API server shows in denials together with the type.
    pub fn validate<Form, H>(name: &str, handler: H) -> Self
    where
        H: IntoValidator<Form, Object: TypedResource>,
    {
        Self::validate_type(name, K8sType::of::<H::Object>(), handler)
    }

    /// The same for a type that is known by its names. The object of the handler is any type that fits, such as
    /// [`serde_json::Value`].
    pub fn validate_type<Form, H>(name: &str, ty: K8sType, handler: H) -> Self
    where
        H: IntoValidator<Form>,
    {
        Self::new(name, WebhookKind::Validating, ty, handler.into_validator().into_inner())
    }

    /// Lets a handler change objects of a Rust type that are created or changed, or deny that. Fields that the Rust type
    /// does not know stay as they are. A handler that changes nothing sends no patch.
    pub fn mutate<Form, H>(name: &str, handler: H) -> Self
    where
        H: IntoMutator<Form, Object: TypedResource + Serialize + DeserializeOwned>,
    {
        Self::mutate_type(name, K8sType::of::<H::Object>(), handler)
    }

    /// The same for a type that is known by its names.
    pub fn mutate_type<Form, H>(name: &str, ty: K8sType, handler: H) -> Self
    where
        H: IntoMutator<Form>,
    {
        Self::new(name, WebhookKind::Mutating, ty, handler.into_mutator().into_inner())
    }

    fn new(name: &str, kind: WebhookKind, ty: K8sType, handler: Arc<dyn Admits>) -> Self {
        Self {
            short_name: name.to_owned(),
            kind,
            ty,
            handler,
            operations: [Operation::Create, Operation::Update].into(),
            subresource: None,
            failure_policy: FailurePolicy::default(),
            match_conditions: Vec::new(),
            namespace_selector: None,
            object_selector: None,
            side_effects: SideEffects::default(),
            reinvocation: Reinvocation::default(),
            timeout: TIMEOUT,
            reads: BTreeSet::new(),
        }
    }

    /// The operations that it is asked about. Default: creations and changes.
    pub fn on(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.operations = operations.into_iter().collect();
        self
    }

    /// Asks it about this subresource instead of the object, such as `status` or `scale`.
    pub fn subresource(mut self, name: impl Into<String>) -> Self {
        self.subresource = Some(name.into());
        self
    }

    /// What happens when it does not answer. Default: the request is refused.
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = policy;
        self
    }

    /// Asks it only where this CEL expression is true. The API server evaluates it, so what does not match costs nothing.
    pub fn matching(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        let condition = MatchCondition { name: name.into(), expression: expression.into() };
        self.match_conditions.push(condition);
        self
    }

    /// Asks it only in namespaces whose labels match this `LabelSelector`.
    pub fn namespace_selector(mut self, selector: Value) -> Self {
        self.namespace_selector = Some(selector);
        self
    }

    /// Asks it only about objects whose labels match this `LabelSelector`, before or after the change.
    pub fn object_selector(mut self, selector: Value) -> Self {
        self.object_selector = Some(selector);
        self
    }

    /// Whether the handler changes something outside. Default: nothing.
    pub fn side_effects(mut self, effects: SideEffects) -> Self {
        self.side_effects = effects;
        self
    }

    /// Whether it is asked again when a later webhook changed the object. Default: no.
    pub fn reinvocation(mut self, reinvocation: Reinvocation) -> Self {
        self.reinvocation = reinvocation;
        self
    }

    /// How long the API server waits for its answer, in whole seconds from 1 to 30. Default 10 s. The handler has nine
    /// tenths of it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Lets the process watch all objects of this type, so that the handler finds them in
    /// [`stores`](super::AdmissionRequest::stores). Types that operators watch as parents are there anyway; of a child type
    /// operators watch only their own objects. The cache costs about the memory of its objects. The process is not ready
    /// before they are listed.
    pub fn reads<K: TypedResource>(self) -> Self {
        self.reads_type(K8sType::of::<K>())
    }

    /// The same for a type that is known by its names.
    pub fn reads_type(mut self, ty: K8sType) -> Self {
        self.reads.insert(ty);
        self
    }

    /// The name in webhook configurations and denials: `NAME.PLURAL.GROUP`.
    pub fn name(&self) -> String {
        let group = Some(self.ty.group()).filter(|group| !group.is_empty()).unwrap_or("core");
        format!("{}.{}.{group}", self.short_name, self.ty.plural())
    }

    /// Whether it may change objects.
    pub fn kind(&self) -> WebhookKind {
        self.kind
    }

    /// The path at which it is served.
    pub(crate) fn path(&self) -> String {
        format!("/webhooks/{}", self.name())
    }

    /// Checks what can be known without the API server.
    pub(crate) fn check(&self) -> Result<(), WebhookError> {
        let (name, seconds) = (self.name(), self.timeout.as_secs());
        if !is_label(&self.short_name) {
            return Err(WebhookError::Name(self.short_name.clone()));
        }
        if self.operations.is_empty() {
            return Err(WebhookError::NoOperations(name));
        }
        if !(1..=30).contains(&seconds) {
            return Err(WebhookError::Timeout(name, seconds));
        }
        match self.match_conditions.len() {
            0..=MAX_CONDITIONS => Ok(()),
            many => Err(WebhookError::Conditions(name, many)),
        }
    }
}

/// Checks all of them, and that no two have one name.
pub(crate) fn check_all(webhooks: &[Webhook]) -> Result<(), WebhookError> {
    let mut names = BTreeSet::new();
    for webhook in webhooks {
        webhook.check()?;
        if !names.insert(webhook.name()) {
            return Err(WebhookError::Twice(webhook.name()));
        }
    }
    Ok(())
}

fn is_label(name: &str) -> bool {
    let is_inside =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(is_inside)
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("name", &self.name())
            .field("kind", &self.kind)
            .field("ty", &self.ty)
            .field("operations", &self.operations)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::admission::{Admission, AdmissionRequest};

    fn webhook(name: &str) -> Webhook {
        let ty = K8sType::namespaced("example.com/v1", "Shop", "shops");
        Webhook::validate_type(name, ty, |_: &AdmissionRequest| Ok(Admission::allow()))
    }

    #[test]
    fn a_name_has_the_type_so_that_it_is_unique_in_the_cluster() {
        assert_eq!(webhook("open").name(), "open.shops.example.com");
        assert_eq!(webhook("open").path(), "/webhooks/open.shops.example.com");
        assert_eq!(check_all(&[webhook("a"), webhook("b")]), Ok(()));
        let twice = WebhookError::Twice("a.shops.example.com".to_owned());
        assert_eq!(check_all(&[webhook("a"), webhook("a")]), Err(twice));
    }

    #[test]
    fn what_the_api_server_would_refuse_is_refused_at_registration() {
        for name in ["", "A", "-a", "a-", "a.b", &"a".repeat(64)] {
            assert_eq!(webhook(name).check(), Err(WebhookError::Name(name.to_owned())));
        }
        assert!(matches!(webhook("a").on([]).check(), Err(WebhookError::NoOperations(_))));
        for seconds in [0, 31] {
            let timeout = webhook("a").timeout(Duration::from_secs(seconds)).check();
            assert!(matches!(timeout, Err(WebhookError::Timeout(_, _))));
        }
        let many =
            (0..65).fold(webhook("a"), |it, number| it.matching(format!("c{number}"), "true"));
        assert!(matches!(many.check(), Err(WebhookError::Conditions(_, 65))));
    }
}
