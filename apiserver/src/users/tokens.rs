//! The bearer tokens that are known as such: the administrator has one for each address that the server listens on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::User;

/// The valid tokens, each with its user.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<Vec<(String, User)>>);

impl Tokens {
    /// Adds a valid token.
    pub(crate) fn add(&self, token: &str, user: User) {
        self.lock().push((token.to_owned(), user));
    }

    /// Removes a token.
    pub(crate) fn remove(&self, token: &str) {
        let mut tokens = self.lock();
        // Two addresses of a server with a data directory have the same token.
        if let Some(at) = tokens.iter().position(|(known, _)| known == token) {
            tokens.swap_remove(at);
        }
    }

    /// Whose token it is, if it is valid.
    pub(crate) fn user(&self, token: &str) -> Option<User> {
        self.lock().iter().find(|(known, _)| same(token, known)).map(|(_, user)| user.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(String, User)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares in constant time.
fn same(given: &str, token: &str) -> bool {
    let different = given.bytes().zip(token.bytes()).fold(0, |acc, (a, b)| acc | (a ^ b));
    given.len() == token.len() && different == 0
}
