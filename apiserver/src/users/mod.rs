//! The users, and what they prove themselves with.
//!
//! ```text
//!  bearer token ──────> tokens, account_tokens ─┐
//!  client certificate ──────────────────────────┼─> User ─> rbac
//!  in process: named, or admin ─────────────────┘
//! ```
//!
//! **Invariants.** A user is in `system:authenticated` or in `system:unauthenticated`. A secret is compared in
//! constant time.

mod certificate;
mod tokens;
mod user;

pub use self::user::User;
pub(crate) use self::{
    certificate::user_of,
    tokens::Tokens,
    user::{MASTERS, account_groups, account_of},
};
