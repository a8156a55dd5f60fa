//! While a child type cannot be listed no handler is called, as every child of it would look deleted:
//! each parent says why.

use std::sync::PoisonError;

use super::{Context, Failure, Report, status};
use crate::object::Object;

impl Context {
    /// Notes why the operator cannot start until a person mends it, or that it can. Whether that is
    /// news; to run the parents then is up to the caller.
    pub fn set_unavailable(&self, why: Option<String>) -> bool {
        let mut known = self.unavailable().lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = *known != why;
        *known = why;
        is_news
    }

    /// What takes the place of everything that a run does.
    pub(super) fn why_unavailable(&self) -> Option<Failure> {
        let known = self.unavailable().lock().unwrap_or_else(PoisonError::into_inner);
        known.clone().map(Failure::Unavailable)
    }
}

/// The whole run.
pub(super) async fn tell(context: &Context, parent: &Object, why: Failure, report: &mut Report) {
    report.fail(why);
    status::write(context, parent, None, report).await;
}
