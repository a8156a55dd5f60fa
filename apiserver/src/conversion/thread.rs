//! The caller of webhooks of the request that this thread answers, and what failed meanwhile.

use std::cell::RefCell;

use crate::callout::Caller;

thread_local! {
    static REQUEST: RefCell<Option<Request>> = const { RefCell::new(None) };
}

#[derive(Debug)]
struct Request {
    caller: Caller,
    uid: String,
    failure: Option<String>,
}

/// Does the work of a request, during which webhooks may be called; says why a conversion failed, if one did.
pub(crate) fn within<T>(
    caller: Caller,
    uid: String,
    work: impl FnOnce() -> T,
) -> (T, Result<(), String>) {
    REQUEST.set(Some(Request { caller, uid, failure: None }));
    let outcome = work();
    let failed = check();
    REQUEST.set(None);
    (outcome, failed)
}

/// Why a conversion has failed during the request of this thread, if one did.
pub(crate) fn check() -> Result<(), String> {
    let failure = REQUEST.with_borrow(|request| request.as_ref()?.failure.clone());
    failure.map_or(Ok(()), Err)
}

/// Who calls webhooks here.
pub(super) fn caller() -> Option<Caller> {
    REQUEST.with_borrow(|request| request.as_ref().map(|request| request.caller.clone()))
}

/// The uid of a review.
pub(super) fn uid() -> String {
    REQUEST.with_borrow(|request| {
        request.as_ref().map_or_else(String::new, |request| request.uid.clone())
    })
}

/// Remembers the first failure.
pub(super) fn fail(why: String) {
    REQUEST.with_borrow_mut(|request| {
        if let Some(request) = request {
            request.failure.get_or_insert(why);
        }
    });
}
