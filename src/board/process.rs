//! The process as a whole on the board: its heartbeats, its credentials, and whether it writes at all.

use std::time::Instant;

use super::{Beat, Board, CredentialState, Pulse};

impl Board {
    /// Adds a pulse that the liveness of the process depends on. Its first beat is now.
    pub(crate) fn pulse(&self, name: String, now: Instant) -> Pulse {
        self.pulses.add(name, now)
    }

    /// Lets an actor panic at its next messages, so many times: `the operator cook`, `the reflector of pods`.
    #[cfg(feature = "testkit")]
    pub fn let_panic(&self, actor: &str, times: usize) {
        self.panics.ask(actor, times);
    }

    /// Whether the actor with this title shall panic now.
    #[cfg(feature = "testkit")]
    pub(crate) fn takes_panic(&self, actor: impl FnOnce() -> String) -> bool {
        self.panics.take(actor)
    }

    /// Whether the API server accepts the credentials is known here.
    pub(crate) fn show_credentials(&self, credentials: CredentialState) {
        self.write().credentials = credentials;
    }

    /// Records that nothing is ever written.
    pub(crate) fn begin_plan_only(&self) {
        self.write().is_plan_only = true;
    }

    /// The last heartbeat of every pulse, seen from `now`.
    pub(crate) fn beats(&self, now: Instant) -> Vec<Beat> {
        self.pulses.all(now)
    }
}
