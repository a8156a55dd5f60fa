//! The tree of the children of a parent.

use askama::{Template, filters::HtmlSafe};

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

/// A child with the objects that it owns.
#[derive(Debug, Template)]
#[template(path = "branch.html")]
pub(super) struct Branch {
    /// Its key among its siblings.
    key: String,
    mark: Mark,
    kind: String,
    /// With its namespace, if that differs from the object above.
    name: String,
    /// The link to an existing object.
    href: Option<String>,
    /// The decision of the last reconcile about it, and the reason.
    decision: Option<(Mark, Option<Prose>)>,
    notes: Vec<Prose>,
    preview: Option<Preview>,
    children: Vec<Branch>,
}

/// What a reconcile would do with a child.
#[derive(Debug, Template)]
#[template(path = "preview.html")]
pub(super) struct Preview {
    mark: Mark,
    differences: Vec<DifferenceView>,
}

impl HtmlSafe for Branch {}

impl HtmlSafe for Preview {}

impl Branch {
    /// A child of an object in this namespace.
    pub(super) fn below(above: Option<&str>, node: &Node) -> Self {
        let decision = node.decision.as_ref();
        let (ty, namespace, name) = (&node.ty.name, node.key.namespace.as_deref(), &node.key.name);
        let full = ObjectKey::new(namespace, name).to_string();
        Self {
            key: format!("{ty} {full}"),
            mark: readiness(node.readiness.state),
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
    /// The reason of a conflict is shown with the last reconcile.
    fn from(PreviewView { action, why: _, differences }: &PreviewView) -> Self {
        let mark = match *action {
            "Create" => Mark::good("would be created"),
            "Delete" => Mark::bad("would be deleted"),
            "Conflict" => Mark::warn("would not be modified"),
            "Keep" => Mark::plain("would be left as it is"),
            "Recreate" => Mark::warn("would be recreated"),
            _ => Mark::busy("would be updated"),
        };
        Self { mark, differences: differences.clone() }
    }
}

fn notes(node: &Node) -> Vec<Prose> {
    let is_foreign = node.facts.as_ref().is_some_and(|facts| !facts.owned);
    let foreign = is_foreign.then_some("it has the label of the parent, but is not owned by it");
    let message = Some(node.readiness.message.as_str()).filter(|message| !message.is_empty());
    message.into_iter().chain(foreign).map(Prose::from).collect()
}

/// By the names of `ReadyState`, and of related objects on a map.
pub(super) fn readiness(state: &str) -> Mark {
    match state {
        "Ready" => Mark::good("ready"),
        "Exists" => Mark::good("exists"),
        "Progressing" => Mark::busy("progressing"),
        "Failed" => Mark::bad("failed"),
        "Terminating" => Mark::terminating("terminating"),
        "Missing" => Mark::bad("missing"),
        "Selection" => Mark::plain("selected"),
        _ => Mark::plain("unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{object::K8sType, web::tree::ReadinessView};

    #[test]
    fn children_of_other_namespaces_are_shown_with_their_namespace() {
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
