//! Counts the errors of a handler, by parent.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Error;

use crate::{
    handler::{Answered, FinalizeResponse, Handler, SyncRequest, SyncResponse},
    resource::{ObjectId, ObjectIdRef},
};

/// The errors of a handler by parent, since a test last asked.
#[derive(Debug, Clone, Default)]
pub struct HandlerErrors(HashMap<ObjectId, Errors>);

#[derive(Debug, Clone, Default)]
struct Errors {
    sync: usize,
    finalize: usize,
    last: String,
}

/// The errors of a handler that is in use.
#[derive(Debug, Clone, Default)]
pub(super) struct Records(Arc<Mutex<HandlerErrors>>);

/// A handler whose errors are counted.
pub(super) struct Counted<H> {
    pub(super) handler: H,
    pub(super) records: Records,
}

impl HandlerErrors {
    /// How often `sync` has failed for a parent.
    pub fn get_sync_error_count_for_parent(&self, id: &ObjectIdRef<'_>) -> usize {
        self.0.get(&id.to_owned()).map_or(0, |errors| errors.sync)
    }

    /// How often `finalize` has failed for a parent.
    pub fn get_finalize_error_count_for_parent(&self, id: &ObjectIdRef<'_>) -> usize {
        self.0.get(&id.to_owned()).map_or(0, |errors| errors.finalize)
    }
}

impl Records {
    /// The errors until now, which are then forgotten.
    pub(super) fn take(&self) -> Result<(), HandlerErrors> {
        let errors = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if errors.0.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// An error that the handler answers itself does not count.
    fn add(&self, request: &SyncRequest, error: &Error, count: fn(&mut Errors) -> &mut usize) {
        if error.downcast_ref::<Answered>().is_some() {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = all.0.entry(request.parent.get_object_id().to_owned()).or_default();
        *count(errors) += 1;
        errors.last = format!("{error:#}");
    }
}

impl<H: Handler> Handler for Counted<H> {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
        let result = self.handler.sync(request);
        let add = |error: &Error| self.records.add(request, error, |errors| &mut errors.sync);
        result.inspect_err(add)
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse, Error> {
        let result = self.handler.finalize(request);
        let add = |error: &Error| self.records.add(request, error, |errors| &mut errors.finalize);
        result.inspect_err(add)
    }

    fn has_finalizer(&self) -> bool {
        self.handler.has_finalizer()
    }
}

impl fmt::Display for HandlerErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the handler has failed:")?;
        self.0.iter().try_for_each(|(id, Errors { sync, finalize, last })| {
            write!(f, "\n- {id}: {sync} times in sync, {finalize} times in finalize, last: {last}")
        })
    }
}

impl std::error::Error for HandlerErrors {}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::handler::test_request as request;

    fn fails(_: &SyncRequest) -> Result<SyncResponse, Error> {
        Err(Error::msg("no oven"))
    }

    #[test]
    fn errors_are_counted_by_parent_until_they_are_taken() {
        let counted = Counted { handler: fails, records: Records::default() };
        for _ in 0..2 {
            assert!(counted.sync(&request()).is_err());
        }
        let errors = counted.records.take().unwrap_err();
        assert_eq!(errors.get_sync_error_count_for_parent(&ObjectIdRef::new("ns", "a")), 2);
        assert_eq!(errors.get_sync_error_count_for_parent(&ObjectIdRef::new("ns", "b")), 0);
        assert_eq!(errors.get_finalize_error_count_for_parent(&ObjectIdRef::new("ns", "a")), 0);
        assert!(errors.to_string().contains("ns/a: 2 times in sync"), "{errors}");
        assert!(counted.records.take().is_ok());
    }

    #[test]
    fn an_error_that_the_handler_answers_does_not_count() {
        let on_error = |_: &SyncRequest, _: Error| (Value::Null, None);
        let counted = Counted { handler: (fails, on_error), records: Records::default() };
        assert!(counted.sync(&request()).is_err());
        assert!(counted.records.take().is_ok());
    }
}
