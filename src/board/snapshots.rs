//! Copies of what is on the board.

use std::time::SystemTime;

use super::{
    OperatorSnapshot, ParentState, QueueState, TypeSnapshot,
    shared::{Board, Operator},
};
use crate::{
    object::{K8sType, ObjectKey},
    plan::UndeclaredField,
    store::StoreReader,
};

impl Board {
    /// All operators, by name.
    pub fn operators(&self) -> Vec<OperatorSnapshot> {
        self.read().operators.values().map(Operator::snapshot).collect()
    }

    /// One operator.
    pub fn operator(&self, name: &str) -> Option<OperatorSnapshot> {
        self.read().operators.get(name).map(Operator::snapshot)
    }

    /// One parent of an operator.
    pub fn parent(&self, operator: &str, key: &ObjectKey) -> Option<ParentState> {
        self.read().operators.get(operator)?.parents.get(key).map(|state| (**state).clone())
    }

    /// All types, by name.
    pub fn types(&self) -> Vec<TypeSnapshot> {
        self.read().types.values().cloned().collect()
    }

    pub(crate) fn store(&self, api_version: &str, kind: &str) -> Option<StoreReader> {
        let contents = self.read();
        let mut stores = contents.types.values().map(|ty| &ty.store);
        stores.find(|store| store.ty().is(api_version, kind)).cloned()
    }

    /// The queue of an operator as it is now, once it has one.
    pub(crate) fn queue(&self, operator: &str) -> Option<QueueState> {
        // The lock of the board is released first: the queue has its own lock.
        let queue = self.read().operators.get(operator)?.queue.clone()?;
        Some(queue.read())
    }

    /// The status fields of an operator that its parent type does not declare.
    pub(crate) fn undeclared(&self, operator: &str) -> Vec<UndeclaredField> {
        let contents = self.read();
        let fields = contents.operators.get(operator).and_then(|it| it.undeclared.clone());
        drop(contents);
        fields.map(|fields| fields.read()).unwrap_or_default()
    }

    /// The namespaces that an operator is restricted to, and whether all its types can be read there.
    pub(crate) fn declared_namespaces(&self, operator: &str) -> Vec<(String, bool)> {
        let contents = self.read();
        contents.operators.get(operator).map(|it| it.namespaces.clone()).unwrap_or_default()
    }

    pub(crate) fn type_state(&self, ty: &K8sType) -> Option<TypeSnapshot> {
        self.read().types.get(ty).cloned()
    }

    /// Why the API server does not accept the credentials of the process.
    pub(crate) fn credential_problem(&self) -> Option<String> {
        self.read().credentials.problem()
    }

    /// Since when the API server has answered no watch; `None` while it answers one. What is cached is from before.
    pub(crate) fn unreachable_since(&self) -> Option<SystemTime> {
        let contents = self.read();
        let since = contents.types.values().map(|ty| ty.state.unreachable_since);
        since.collect::<Option<Vec<_>>>()?.into_iter().min()
    }

    /// Whether nothing is ever written.
    pub(crate) fn is_plan_only(&self) -> bool {
        self.read().is_plan_only
    }

    /// Whether the process is stopping.
    pub fn is_stopping(&self) -> bool {
        self.read().is_stopping
    }
}
