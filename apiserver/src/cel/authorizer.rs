//! The authorizer in expressions: what the user of a request, or a service account, may do.

use std::{fmt, sync::Arc};

use super::{
    ty::Type,
    value::{Outcome, Val, no_overload},
};

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
    decide: Arc<Decide>,
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
    authorizer: Authorizer,
    question: Question,
    step: Step,
}

impl Authorizer {
    /// An authorizer that decides so.
    pub(crate) fn new(decide: Arc<Decide>) -> Self {
        Self { decide, request: Question::default() }
    }

    pub(super) fn value<'a>(&self) -> Val<'a> {
        self.asking(Question::default(), Step::Begun)
    }

    pub(super) fn resource_value<'a>(&self) -> Val<'a> {
        self.asking(self.request.clone(), Step::Resource)
    }

    fn asking<'a>(&self, question: Question, step: Step) -> Val<'a> {
        Val::Authorizer(Arc::new(Asking { authorizer: self.clone(), question, step }))
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

/// Calls a member of an authorizer.
pub(super) fn call<'a>(function: &str, asking: &Asking, args: &[Val<'a>]) -> Outcome<'a> {
    let texts = args.iter().map(|arg| arg.as_text().map(str::to_owned));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let Asking { authorizer, question, step } = asking;
    let mut next = question.clone();
    let step = match (step, function, texts.as_slice()) {
        (Step::Begun, "serviceAccount", [namespace, name]) => {
            next.service_account = Some((namespace.clone(), name.clone()));
            Step::Begun
        }
        (Step::Begun, "path", [path]) => {
            next.path = Some(path.clone());
            Step::Path
        }
        (Step::Begun, "group", [group]) => {
            next.group.clone_from(group);
            Step::Group
        }
        (Step::Group, "resource", [resource]) => {
            next.resource.clone_from(resource);
            Step::Resource
        }
        (Step::Resource, "subresource", [text]) => {
            next.subresource.clone_from(text);
            Step::Resource
        }
        (Step::Resource, "namespace", [text]) => {
            next.namespace.clone_from(text);
            Step::Resource
        }
        (Step::Resource, "name", [text]) => {
            next.name.clone_from(text);
            Step::Resource
        }
        // No rule depends on them.
        (Step::Resource, "fieldSelector" | "labelSelector", [_]) => Step::Resource,
        (Step::Resource | Step::Path, "check", [verb]) => {
            next.verb.clone_from(verb);
            Step::Decided((authorizer.decide)(&next))
        }
        (Step::Decided(allowed), "allowed", []) => return Ok(Val::Bool(*allowed)),
        (Step::Decided(_), "errored", []) => return Ok(Val::Bool(false)),
        (Step::Decided(_), "error" | "reason", []) => return Ok(Val::text("")),
        _ => return no_overload(),
    };
    Ok(authorizer.asking(next, step))
}
