//! The users: one administrator, who has the token of each address that the server listens on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the administrator is called.
pub(crate) const NAME: &str = "admin";
/// The groups that the administrator is in.
pub(crate) const GROUPS: [&str; 2] = ["system:masters", "system:authenticated"];

/// The valid tokens.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<Vec<String>>);

impl Tokens {
    /// Adds a valid token.
    pub(crate) fn add(&self, token: &str) {
        self.lock().push(token.to_owned());
    }

    /// Removes a token.
    pub(crate) fn remove(&self, token: &str) {
        let mut tokens = self.lock();
        // Two addresses of a server with a data directory have the same token.
        if let Some(at) = tokens.iter().position(|known| known == token) {
            tokens.swap_remove(at);
        }
    }

    /// Whether a token is valid.
    pub(crate) fn knows(&self, token: &str) -> bool {
        self.lock().iter().any(|known| same(token, known))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares in constant time.
pub(crate) fn same(given: &str, token: &str) -> bool {
    let different = given.bytes().zip(token.bytes()).fold(0, |acc, (a, b)| acc | (a ^ b));
    given.len() == token.len() && different == 0
}
