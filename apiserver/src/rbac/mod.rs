//! Who may do what: the roles and their bindings, and what they allow.
//!
//! ```text
//!  data/rbac.json ─ bootstrap ──> log (roles, bindings) ──> policy ─ authorizer ──> yes, or 403
//!                                   ^ aggregate                 ├─ impersonation: may a user be another one?
//!                                   └ view, edit, admin         └─ escalation: writes of roles and bindings
//! ```
//!
//! **Invariants.** A decision is about the roles and bindings at the head of the log: what was written before a
//! request counts for it. A member of `system:masters` may do everything. Rules only add up; nothing denies.
//!
//! Not here: who a user is (see [`crate::users`]).

mod aggregate;
mod attributes;
mod authorizer;
mod bootstrap;
mod covers;
mod escalation;
mod group;
mod impersonation;
mod policy;
mod rule;
mod signers;
mod subject;

pub(crate) use self::{
    aggregate::{AGGREGATION_MANAGER, aggregated_rules},
    attributes::{Attributes, ResourceTarget, Target},
    authorizer::{Authorizer, Decision, Mode},
    bootstrap::{declared, objects},
    escalation::Writer,
    group::{GROUP, VERSION},
    impersonation::Impersonation,
    policy::{MissingRole, joined},
    rule::Rule,
    signers::Signing,
};
