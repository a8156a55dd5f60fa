//! Which message a kind is.

use std::{collections::HashMap, sync::LazyLock};

use crate::builtin;

/// The message of a kind: that of a Go struct, or a list of such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Object(&'static str),
    List(&'static str),
}

/// The message of a kind, if it has one.
pub(super) fn find(api_version: &str, kind: &str) -> Option<Shape> {
    let api_version = match (api_version, kind) {
        // Every group has the options of deletions.
        (_, "DeleteOptions") => "meta.k8s.io/v1",
        // Some answers of discovery have no version.
        ("", _) => "v1",
        _ => api_version,
    };
    SHAPES.get(api_version)?.get(kind).copied()
}

type Shapes = HashMap<String, HashMap<String, Shape>>;

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let mut shapes = Shapes::new();
    let mut add = |group: &str, version: &str, kind: String, shape| {
        let api_version =
            if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        shapes.entry(api_version).or_default().insert(kind, shape);
    };
    for ty in builtin::types() {
        add(ty.group, ty.version, ty.kind.to_owned(), Shape::Object(ty.root));
        add(ty.group, ty.version, format!("{}List", ty.kind), Shape::List(ty.root));
    }
    for message in builtin::messages() {
        let shape = Shape::Object(message.root);
        add(message.group, message.version, message.kind.to_owned(), shape);
    }
    shapes
});
