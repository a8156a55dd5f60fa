//! Looks beneath the children that are not ready, on demand: the deepest reason that Kubernetes gives replaces "is not
//! ready". Nothing of it is cached.

use super::redact::Secrets;
use crate::{
    board::{Board, Dependants, Depth, Workload},
    history::{Action, Problem},
    object::{Object, Readiness},
    plan::ChildId,
    report::problem::Deeper,
};

/// Replaces the problems of children that are not ready by those of their dependants, where there are any.
pub(super) async fn look(
    board: &Board,
    operator: &str,
    parent: &ChildId,
    secrets: &Secrets,
    problems: Vec<Problem>,
) -> Vec<Problem> {
    let children: Vec<Object> =
        problems.iter().filter_map(|it| cached(board, it.unready.as_ref()?)).collect();
    if children.is_empty() {
        return problems;
    }
    let asked = children.iter().map(Workload::of).collect();
    // A process that stops answers nothing: what is known is shown.
    let read = board.read_dependants(operator, asked, Depth::Reasons).await.unwrap_or_default();
    let beneath = |problem: &Problem| {
        let child = problem.unready.as_ref()?;
        let object = children.iter().find(|it| it.ty() == &child.ty && it.key() == &child.key)?;
        let found = read.iter().find(|it| it.of == *child)?;
        Some(deeper(found, object, parent)).filter(|deeper| !deeper.is_empty())
    };
    let replaced =
        problems.into_iter().flat_map(|problem| beneath(&problem).unwrap_or_else(|| vec![problem]));
    replaced.map(|problem| without(secrets, problem)).collect()
}

fn cached(board: &Board, id: &ChildId) -> Option<Object> {
    board.type_state(&id.ty)?.store.get(&id.key)
}

/// What was read, and the child itself if it is a Pod or a claim.
fn deeper(found: &Dependants, child: &Object, parent: &ChildId) -> Vec<Problem> {
    let Dependants { of, pods, claims, warnings, errors } = found;
    let itself = |kind: &str| (child.ty().is("v1", kind)).then(|| child.to_value());
    let pods: Vec<_> = itself("Pod").into_iter().chain(pods.iter().cloned()).collect();
    let claims: Vec<_> =
        itself("PersistentVolumeClaim").into_iter().chain(claims.iter().cloned()).collect();
    let readiness = &Readiness::of(child);
    let deeper = Deeper { child: of, parent, readiness, pods: &pods, claims: &claims, warnings };
    let mut problems = deeper.problems();
    if let Some(first) = problems.first_mut() {
        first.because.extend(errors.iter().cloned());
    }
    problems
}

/// Without what is secret in the words of others.
fn without(secrets: &Secrets, problem: Problem) -> Problem {
    let Problem { what, because, actions, unready } = problem;
    let text = |text: String| secrets.text(&text);
    let action = |action: Action| Action { command: action.command.map(text), ..action };
    Problem {
        what: text(what),
        because: because.into_iter().map(text).collect(),
        actions: actions.into_iter().map(action).collect(),
        unready,
    }
}
