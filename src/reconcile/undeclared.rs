//! What of a status is not sent because the parent's type does not declare it: logged once for an
//! operator, and told of each parent when its status is written, so that a restart over parents that
//! are as they should be tells nothing.

use super::{Context, Report, events};
use crate::{
    cluster::EventKind,
    object::{K8sType, Object},
};

pub(super) const REASON: &str = "UndeclaredStatus";

/// So many paths are named in an Event.
const MAX_NAMED: usize = 10;

/// Logs what was not yet for the operator; whether there was something.
pub(super) fn log(context: &Context, ty: &K8sType, paths: &[String]) -> bool {
    let mut is_news = false;
    for path in paths {
        let message = text(ty, std::slice::from_ref(path));
        if context.said.is_due(&message) {
            tracing::warn!(operator = %context.name(), "{message}");
            is_news = true;
        }
    }
    is_news
}

/// Tells it of a parent whose status was written, unless it is what was told last. A run whose
/// handler has failed knows a part of it only.
pub(super) fn tell(
    context: &Context,
    parent: &Object,
    (paths, is_all): (&[String], bool),
    report: &mut Report,
) {
    let told = report.memory.troubles().told_undeclared;
    if let Some(troubles) = report.memory.troubles_if(false).filter(|_| paths.is_empty() && is_all)
    {
        troubles.told_undeclared = None;
    }
    if paths.is_empty() || (!is_all && told.is_some()) {
        return;
    }
    let what = events::hash(&paths);
    if told != Some(what) {
        report.memory.troubles_mut().told_undeclared = Some(what);
        let event = (EventKind::Warning, REASON, text(parent.ty(), paths));
        events::tell(context, parent, event, report);
    }
}

/// Where nothing of a status is declared none is ever written: one parent stands for all.
pub(super) fn tell_of_none(context: &Context, parent: &Object, paths: &[String]) {
    let status = parent.field("status");
    if status.is_none_or(|status| status.as_object().is_some_and(serde_json::Map::is_empty)) {
        let event = (EventKind::Warning, REASON, text(parent.ty(), paths));
        events::tell_once(context, parent, event);
    }
}

pub(super) fn text(ty: &K8sType, paths: &[String]) -> String {
    let named = paths.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let named = match paths.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    };
    if let [_] = paths {
        return format!(
            "{ty} does not declare {named}, so it is not written; declare it in the CRD, or do not \
             return it"
        );
    }
    format!(
        "{ty} does not declare {named}, so they are not written; declare them in the CRD, or do not \
         return them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_is_named_and_of_very_many_some() {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let paths: Vec<String> = (0..12).map(|number| format!(".status.f{number}")).collect();
        let one = text(&ty, &paths[..1]);
        assert!(one.contains("declare .status.f0, so it is not written"), "{one}");
        let two = text(&ty, &paths[..2]);
        assert!(two.contains("declare .status.f0, .status.f1, so they are not"), "{two}");
        let many = text(&ty, &paths);
        assert!(many.contains(".status.f9 and 2 more, so they"), "{many}");
        assert!(!many.contains(".status.f10"), "{many}");
    }
}
