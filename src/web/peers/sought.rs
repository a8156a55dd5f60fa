//! Which parent a path is about.

use crate::{board::Board, object::K8sType, object::ObjectKey};

/// A parent that a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sought {
    pub(super) ty: K8sType,
    pub(super) key: ObjectKey,
}

/// What a path may end with after the name of a parent.
const COMMANDS: [&str; 4] = ["allow-deletions", "pause", "resume", "sync"];

impl Sought {
    /// The parent of a decoded path, unless this process shows it.
    pub(super) fn of(path: &str, board: &Board) -> Option<Self> {
        let rest =
            path.strip_prefix("/api/v1/operators/").or(path.strip_prefix("/ui/operators/"))?;
        let mut parts = rest.split('/');
        let (operator, view) = (parts.next()?, parts.next()?);
        if !matches!(view, "parents" | "map") {
            return None;
        }
        let ty = board.operator(operator)?.info.config.parent;
        let mut names: Vec<&str> = parts.collect();
        let expected = if ty.is_namespaced() { 2 } else { 1 };
        if names.len() == expected + 1 && COMMANDS.contains(&names[expected]) {
            names.pop();
        }
        let key = match (names.as_slice(), ty.is_namespaced()) {
            ([namespace, name], true) => ObjectKey::namespaced(namespace, name),
            ([name], false) => ObjectKey::new(None, name),
            _ => return None,
        };
        board.parent(operator, &key).is_none().then_some(Self { ty, key })
    }
}
