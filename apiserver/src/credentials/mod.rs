//! The credentials of a server and of its clients: made when they are first needed, or kept in a data directory.
//!
//! ```text
//!  data directory, or nothing ─> secrets (texts) ─> Keychain (once) ─> Credentials ─┬─> transport: TLS
//!                                           tls, clients, token_key               ├─> certificates: the authority
//!                                                                                   └─> account_tokens: the key
//! ```
//!
//! **Invariants**: a server has one set of them, and with a data directory so have all servers that use it. The file
//! is for its owner alone, and `Debug` shows nothing of them.

mod clients;
mod error;
mod keychain;
mod secrets;
mod tls;
mod token_key;

pub use self::error::CredentialsError;
pub(crate) use self::{
    keychain::{Credentials, Keychain},
    tls::HTTP_2,
    token_key::TokenKey,
};
