//! The state of an operator as it is shown.

use super::{
    OperatorActor, Start, WatchCondition,
    scopes::{self, Scope},
};
use crate::{actors::messages::OperatorStateChanged, board::OperatorState};

impl OperatorActor {
    pub(super) fn show_state(&self) {
        let state = self.state();
        self.parts.board.set_operator(self.name(), state.clone());
        self.parts.board.set_namespaces(self.name(), self.namespaces());
        let operator = self.name().clone();
        // Nobody listens when the process is stopping.
        let _ = self.parts.states.send(OperatorStateChanged { operator, state: Some(state) });
    }

    fn state(&self) -> OperatorState {
        let failing = self.watches.values().filter_map(|condition| match condition {
            WatchCondition::Failing(why) | WatchCondition::Refused(why) => Some(why.clone()),
            WatchCondition::Pending | WatchCondition::Synced => None,
        });
        let reasons: Vec<String> = failing
            .chain(self.idle_namespaces())
            .chain(self.panicked.clone())
            .chain(self.held_up.clone())
            .chain(self.related_problems.values().flatten().cloned())
            .collect();
        if !reasons.is_empty() {
            return OperatorState::Degraded { reasons };
        }
        let pending = self.watches.iter().filter(|(_, at)| **at == WatchCondition::Pending);
        let waiting_for: Vec<String> = pending.map(|(watched, _)| watched.to_string()).collect();
        if waiting_for.is_empty() {
            OperatorState::Running
        } else {
            OperatorState::Starting { waiting_for }
        }
    }

    /// The namespaces without reconciles, if other namespaces have them.
    fn idle_namespaces(&self) -> Option<String> {
        let is_idle =
            |(scope, start): &(&Scope, Start)| *start == Start::Awaited && self.is_failing(scope);
        let idle: Vec<&str> =
            self.scopes.all().filter(is_idle).filter_map(|(scope, _)| scope.as_deref()).collect();
        let have_others = self.scopes.all().any(|(_, start)| start == Start::Full);
        (have_others && !idle.is_empty()).then(|| {
            let idle = idle.join(", ");
            format!("no parent in namespace {idle} is reconciled until then; parents of the other namespaces are")
        })
    }

    fn is_failing(&self, scope: &Scope) -> bool {
        self.watches.iter().any(|(watched, condition)| {
            let fails =
                matches!(condition, WatchCondition::Failing(_) | WatchCondition::Refused(_));
            fails && (watched.namespace.is_none() || watched.namespace == *scope)
        })
    }

    /// The namespaces that the operator is restricted to, and whether all its types can be read there.
    fn namespaces(&self) -> Vec<(String, bool)> {
        let named = self.scopes.all().filter_map(|(scope, _)| scope.clone());
        named.map(|name| (name.clone(), scopes::is_well(&Some(name), &self.watches))).collect()
    }
}
