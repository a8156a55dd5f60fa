//! The authorizer in expressions: what the user of a request, or a service account, may do.

use std::{fmt, sync::Arc};

use super::ty::Type;

/// A question: who, and what to do with what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Question {
    /// The namespace and the name of a service account, instead of the user.
    pub service_account: Option<(String, String)>,
    /// A path that is no resource.
    pub path: Option<String>,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub verb: String,
}

type Decide = dyn Fn(&Question) -> bool + Send + Sync;

/// Who decides, and what is asked by default.
#[derive(Clone)]
pub(crate) struct Authorizer {
    pub(super) decide: Arc<Decide>,
    /// The resource of the request.
    pub(crate) request: Question,
}

/// A step of a question in an expression.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Begun,
    Path,
    Group,
    Resource,
    Decided(bool),
}

/// A question as a value.
#[derive(Debug, Clone)]
pub(super) struct Asking {
    pub(super) authorizer: Authorizer,
    pub(super) question: Question,
    pub(super) step: Step,
}

impl Authorizer {
    /// An authorizer that decides so.
    pub(crate) fn new(decide: Arc<Decide>) -> Self {
        Self { decide, request: Question::default() }
    }

    /// A question that asks nothing yet.
    pub(super) fn begun(&self) -> Asking {
        let authorizer = self.clone();
        Asking { authorizer, question: Question::default(), step: Step::Begun }
    }

    /// The question about the resource of the request.
    pub(super) fn about_request(&self) -> Asking {
        let authorizer = self.clone();
        Asking { authorizer, question: self.request.clone(), step: Step::Resource }
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").field("request", &self.request).finish_non_exhaustive()
    }
}

/// The type of `authorizer`.
pub(super) fn ty() -> Type {
    Type::Named("kubernetes.authorization.Authorizer".into())
}

/// The type of `authorizer.requestResource`.
pub(super) fn resource_ty() -> Type {
    Type::Named("kubernetes.authorization.ResourceCheck".into())
}

impl Asking {
    pub(super) fn type_name(&self) -> &'static str {
        match self.step {
            Step::Begun => "kubernetes.authorization.Authorizer",
            Step::Path => "kubernetes.authorization.PathCheck",
            Step::Group => "kubernetes.authorization.GroupCheck",
            Step::Resource => "kubernetes.authorization.ResourceCheck",
            Step::Decided(_) => "kubernetes.authorization.Decision",
        }
    }
}
