//! Who uses the server: one administrator, who has the token of each address that it listens on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the administrator is called.
pub(crate) const NAME: &str = "admin";
/// The groups that the administrator is in.
pub(crate) const GROUPS: [&str; 2] = ["system:masters", "system:authenticated"];

/// The tokens that are good now.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<Vec<String>>);

impl Tokens {
    /// A token is good from now on.
    pub(crate) fn add(&self, token: &str) {
        self.lock().push(token.to_owned());
    }

    /// A token is not good any more.
    pub(crate) fn remove(&self, token: &str) {
        self.lock().retain(|known| known != token);
    }

    /// Whether a token is good.
    pub(crate) fn knows(&self, token: &str) -> bool {
        self.lock().iter().any(|known| same(token, known))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares without telling by the time taken how much was right.
pub(crate) fn same(given: &str, token: &str) -> bool {
    let different = given.bytes().zip(token.bytes()).fold(0, |acc, (a, b)| acc | (a ^ b));
    given.len() == token.len() && different == 0
}
