//! The messages about a failing watch.

use super::Reflector;
use crate::{
    actors::watching,
    board::TypeError,
    reply::{ApiError, ErrorClass},
};

impl Reflector {
    pub(super) fn type_error(&self, scope: usize, error: &ApiError) -> TypeError {
        let permission = || format!("get, list, watch on {}", self.watched(scope));
        let is_forbidden = error.class() == ErrorClass::Forbidden;
        TypeError { message: error.to_string(), permission: is_forbidden.then(permission) }
    }

    /// The error with what to do about it.
    pub(super) fn why(&self, scope: usize, error: &ApiError) -> String {
        watching::why(&self.watched(scope), error)
    }
}
