//! Questions to the authorizer.

use std::sync::Arc;

use crate::cel::{
    authorizer::{Asking, Step},
    value::{Outcome, Val, no_overload},
};

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
    let authorizer = authorizer.clone();
    Ok(Val::Authorizer(Arc::new(Asking { authorizer, question: next, step })))
}
