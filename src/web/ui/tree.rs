//! The children of a parent and theirs, as a tree to look at.

use askama::{Template, filters::HtmlSafe};
use serde_json::Value;

use super::{
    links,
    parts::{Mark, Prose},
};
use crate::{
    object::ObjectKey,
    web::{
        diff::{DifferenceView, PreviewView},
        tree::Node,
    },
};

/// A child with what belongs to it.
#[derive(Debug, Template)]
#[template(path = "branch.html")]
pub(super) struct Branch {
    /// Which it is among its siblings.
    key: String,
    mark: Mark,
    kind: String,
    /// With its namespace, where that is not the one of what it is shown below.
    name: String,
    /// What is there can be looked at.
    href: Option<String>,
    /// What the last reconcile decided about it, and why.
    decision: Option<(Mark, Option<Prose>)>,
    notes: Vec<Prose>,
    /// What a reconcile would do with it, where that was asked.
    preview: Option<Preview>,
    children: Vec<Branch>,
}

/// What a reconcile would do with a child.
#[derive(Debug)]
struct Preview {
    mark: Mark,
    differences: Vec<Difference>,
}

/// A place where desired and live differ, in JSON.
#[derive(Debug)]
struct Difference {
    path: String,
    live: Option<String>,
    desired: Option<String>,
}

impl HtmlSafe for Branch {}

impl Branch {
    /// A child of what is in this namespace, if it is in any.
    pub(super) fn below(above: Option<&str>, node: &Node) -> Self {
        let decision = node.decision.as_ref();
        let (ty, namespace, name) = (&node.ty.name, node.key.namespace.as_deref(), &node.key.name);
        let full = ObjectKey::new(namespace, name).to_string();
        Self {
            key: format!("{ty} {full}"),
            mark: mark(node.readiness.state),
            kind: node.ty.kind.clone(),
            name: if namespace == above { name.clone() } else { full },
            href: node.facts.as_ref().map(|_| links::named_object(ty, namespace, name)),
            decision: decision.map(|it| (it.what.into(), it.why.as_deref().map(Prose::from))),
            notes: notes(node),
            preview: node.preview.as_ref().map(Preview::from),
            children: node.children.iter().map(|it| Self::below(namespace, it)).collect(),
        }
    }
}

impl From<&PreviewView> for Preview {
    /// Who is in the way is said by the last reconcile, which is beside it.
    fn from(PreviewView { action, why: _, differences }: &PreviewView) -> Self {
        let mark = match *action {
            "Create" => Mark::good("would be created"),
            "Delete" => Mark::bad("would be deleted"),
            "Conflict" => Mark::warn("would be left alone"),
            "Recreate" => Mark::warn("would be created anew"),
            _ => Mark::busy("would be changed"),
        };
        let text = |value: &Option<Value>| value.as_ref().map(Value::to_string);
        let difference = |it: &DifferenceView| Difference {
            path: it.path.clone(),
            live: text(&it.live),
            desired: text(&it.desired),
        };
        Self { mark, differences: differences.iter().map(difference).collect() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{object::K8sType, web::tree::ReadinessView};

    #[test]
    fn namesakes_in_two_namespaces_are_told_apart() {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let node = |namespace| Node {
            ty: (&ty).into(),
            key: (&ObjectKey::namespaced(namespace, "settings")).into(),
            facts: None,
            readiness: ReadinessView { state: "Missing", message: String::new() },
            decision: None,
            preview: None,
            children: Vec::new(),
        };
        for (above, first, second) in
            [(None, ">a/settings<", ">b/settings<"), (Some("a"), ">settings<", ">b/settings<")]
        {
            let shown = |namespace| Branch::below(above, &node(namespace)).render().unwrap();
            let (a, b) = (shown("a"), shown("b"));
            assert!(a.starts_with("<li data-key=\"configmaps a/settings\">"), "{a}");
            assert!(b.starts_with("<li data-key=\"configmaps b/settings\">"), "{b}");
            assert!(a.contains(first) && b.contains(second), "{a} {b}");
        }
    }
}
