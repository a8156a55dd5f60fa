//! The children of a parent and theirs, as a tree to look at.

use askama::{Template, filters::HtmlSafe};

use super::{
    links,
    parts::{Mark, Prose},
};
use crate::web::tree::Node;

/// A child with what belongs to it.
#[derive(Debug, Template)]
#[template(path = "branch.html")]
pub(super) struct Branch {
    mark: Mark,
    kind: String,
    name: String,
    /// What is there can be looked at.
    href: Option<String>,
    /// What the last run decided about it, and why.
    decision: Option<(Mark, Option<Prose>)>,
    notes: Vec<Prose>,
    children: Vec<Branch>,
}

impl HtmlSafe for Branch {}

impl From<&Node> for Branch {
    fn from(node: &Node) -> Self {
        let decision = node.decision.as_ref();
        let (ty, namespace, name) = (&node.ty.name, node.key.namespace.as_deref(), &node.key.name);
        Self {
            mark: mark(node.readiness.state),
            kind: node.ty.kind.clone(),
            name: name.clone(),
            href: node.facts.as_ref().map(|_| links::named_object(ty, namespace, name)),
            decision: decision.map(|it| (it.what.into(), it.why.as_deref().map(Prose::from))),
            notes: notes(node),
            children: node.children.iter().map(Self::from).collect(),
        }
    }
}

fn notes(node: &Node) -> Vec<Prose> {
    let is_foreign = node.facts.as_ref().is_some_and(|facts| !facts.owned);
    let foreign = is_foreign.then_some("it only says by a label that it belongs to the parent");
    let message = Some(node.readiness.message.as_str()).filter(|message| !message.is_empty());
    message.into_iter().chain(foreign).map(Prose::from).collect()
}

/// By the words of `ReadyState`.
fn mark(state: &str) -> Mark {
    match state {
        "Ready" => Mark::good("ready"),
        "Exists" => Mark::good("exists"),
        "Progressing" => Mark::busy("progressing"),
        "Failed" => Mark::bad("failed"),
        "Terminating" => Mark::leaving("terminating"),
        "Missing" => Mark::bad("missing"),
        _ => Mark::plain("unknown"),
    }
}
