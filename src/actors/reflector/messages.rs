//! The messages about a failing watch.

use super::Reflector;
use crate::{
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
        let watched = self.watched(scope);
        match error.class() {
            ErrorClass::Forbidden => {
                format!("missing permission: get, list, watch on {watched}; {error}")
            }
            ErrorClass::NotServed => {
                let (name, version) = (self.ty().resource_name(), self.ty().version());
                format!(
                    "the API server does not serve {name} in version {version}: install its CRD, or \
                     use a name and version that it serves; {error}"
                )
            }
            ErrorClass::Retry
            | ErrorClass::Conflict
            | ErrorClass::Missing
            | ErrorClass::Wait(_)
            | ErrorClass::Permanent => format!("{watched}: {error}"),
        }
    }
}
