//! Shows the state of the watches of a type on the board.

use std::mem;

use super::Reflector;
use crate::board::{NamespaceState, TypeState};

impl Reflector {
    pub(super) fn show(&self) {
        let namespaces = (0..self.scopes.len()).filter_map(|scope| self.namespace(scope));
        let namespaces = namespaces.collect();
        self.reflecting.parts.board.set_type(self.ty(), TypeState { namespaces, ..self.summary() });
    }

    /// Shows the type with one changed scope, of which there may be hundreds.
    pub(super) fn show_scope(&self, scope: usize) {
        let (summary, namespace) = (self.summary(), self.namespace(scope));
        self.reflecting.parts.board.update_type(self.ty(), |shown| {
            let mut namespaces = mem::take(&mut shown.namespaces);
            let is_same = |it: &&mut NamespaceState| {
                namespace.as_ref().is_some_and(|now| now.namespace == it.namespace)
            };
            if let (Some(before), Some(now)) = (namespaces.iter_mut().find(is_same), &namespace) {
                before.clone_from(now);
            }
            *shown = TypeState { namespaces, ..summary };
        });
    }

    fn summary(&self) -> TypeState {
        TypeState {
            synced: self.store.reader().is_synced(),
            deletions_held: self.store.holds_deletions(),
            error: self.scopes.iter().find_map(|scope| scope.error.clone()),
            ..self.state.clone()
        }
    }

    /// The state of one namespace. A single watch of all namespaces is shown with the type instead, unless
    /// it has fallbacks.
    fn namespace(&self, scope: usize) -> Option<NamespaceState> {
        let is_only = self.fallbacks().all(|other| self.rests(other));
        let namespace = self.scopes[scope].spec.namespace.clone();
        let is_leaving = self.scopes[scope].is_leaving;
        if is_leaving || self.rests(scope) || (namespace.is_none() && is_only) {
            return None;
        }
        let (synced, error) = (self.is_synced(scope), self.scopes[scope].error.clone());
        Some(NamespaceState { namespace, synced, error })
    }
}
