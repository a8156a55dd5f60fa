//! Admission on the embedded server and on the real control plane: every answer must be the same, and every
//! call of a webhook.
//!
//! ```text
//!  a scene: objects that configure it, then steps ─┬─> embedded server ─┐
//!                        ▲                         └─> kube-apiserver ──┴─ answers and calls, masked ─ equal?
//!                        └ a webhook server of the test, on loopback
//! ```
//!
//! Without the programs of the real control plane the tests are ignored.

mod conversion;
mod hook;
mod mask;
mod mutating_policies;
mod pair;
mod policies;
mod quotas;
mod webhooks;
