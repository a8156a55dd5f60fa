//! The namespaces of the parents of an operator, which its page offers as a filter.

use std::{collections::BTreeSet, ops::ControlFlow};

use crate::board::Board;

/// The first namespaces, each once.
pub(super) fn of_parents(board: &Board, operator: &str, limit: usize) -> Vec<String> {
    let mut namespaces: Vec<String> = Vec::new();
    board.each_parent(operator, |key, _| {
        let namespace = key.namespace.as_deref();
        let namespace = namespace.filter(|it| namespaces.last().is_none_or(|last| last != it));
        namespaces.extend(namespace.map(ToOwned::to_owned));
        if namespaces.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    namespaces
}

/// The first of those of all processes, each once.
pub(super) fn joined(own: Vec<String>, others: Vec<Vec<String>>, limit: usize) -> Vec<String> {
    let all: BTreeSet<String> = own.into_iter().chain(others.into_iter().flatten()).collect();
    all.into_iter().take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{OperatorInfo, ParentState},
        object::{K8sType, Uid},
        operator::OperatorConfig,
    };

    #[test]
    fn namespaces_are_unique_and_limited() {
        let config = OperatorConfig::new("a", K8sType::namespaced("v1", "Pod", "pods"));
        let (board, name) = (Board::new(), config.operator_name().unwrap());
        board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
        for key in ["a/1", "a/2", "b/1", "c/1"] {
            board.record(&name, &key.parse().unwrap(), ParentState::pending(Uid::new(key), None));
        }
        assert_eq!(of_parents(&board, "a", 10), ["a", "b", "c"]);
        assert_eq!(of_parents(&board, "a", 2), ["a", "b"]);
        assert!(of_parents(&board, "nobody", 2).is_empty());
        let (own, other) = (of_parents(&board, "a", 10), vec!["aa".to_owned(), "b".to_owned()]);
        assert_eq!(joined(own, vec![other], 3), ["a", "aa", "b"]);
    }
}
