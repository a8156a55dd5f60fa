//! The tokens of service accounts: JSON Web Tokens that this server signs, and recognizes.
//!
//! ```text
//!  POST serviceaccounts/NAME/token ─> request ──> claims ─ sign ──> token
//!  Authorization, TokenReview ──────> claims ─ verify ─> account ─> User, or why not
//!  /openid/v1/jwks, /.well-known/openid-configuration ─> documents
//! ```
//!
//! **Invariants**: a token is good as long as its service account, and the object that it is bound to, exist with the
//! uids in the token. Nothing is stored: what a token says is what it proves.
//!
//! Not here: tokens in Secrets, which controllers of the real control plane make.

mod account;
mod bound;
mod claims;
mod documents;
mod request;

pub(crate) use self::{
    account::{Authenticated, authenticate},
    claims::ISSUER as AUDIENCE,
    documents::{configuration, keys},
    request::{default, issue},
};
