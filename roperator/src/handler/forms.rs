//! Functions as handlers.

use std::time::Duration;

use anyhow::Error;
use serde_json::Value;

use super::{Answered, Handler, Retry, SyncRequest, SyncResponse};

impl<F> Handler for F
where
    F: Fn(&SyncRequest) -> Result<SyncResponse, Error> + Send + Sync + 'static,
{
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
        self(request)
    }

    fn has_finalizer(&self) -> bool {
        false
    }
}

impl<S, E> Handler for (S, E)
where
    S: Fn(&SyncRequest) -> Result<SyncResponse, Error> + Send + Sync + 'static,
    E: Fn(&SyncRequest, Error) -> (Value, Option<Duration>) + Send + Sync + 'static,
{
    /// # Errors
    /// That of the first function, with the answer of the second.
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
        let (sync, on_error) = self;
        sync(request).map_err(|error| {
            let message = format!("{error:#}");
            let (status, retry) = on_error(request, error);
            let retry = retry.map_or(Retry::Usual, Retry::After);
            Answered { message, status: Some(status), retry }.into()
        })
    }

    fn has_finalizer(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::handler::test_request as request;

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
    fn sync(_: &SyncRequest) -> Result<SyncResponse, Error> {
        Ok(SyncResponse::new(json!({})))
    }

    fn fails(_: &SyncRequest) -> Result<SyncResponse, Error> {
        Err(Error::msg("the oven is cold").context("no bread"))
    }

    #[expect(clippy::needless_pass_by_value, reason = "the signature of a handler of errors")]
    fn on_error(_: &SyncRequest, error: Error) -> (Value, Option<Duration>) {
        (json!({"message": error.to_string()}), Some(Duration::from_secs(3)))
    }

    #[test]
    fn functions_have_no_finalizer_and_structs_have_one() {
        struct Struct;
        impl Handler for Struct {
            fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
                sync(request)
            }
        }
        assert!(!sync.has_finalizer() && !(sync, on_error).has_finalizer());
        assert!(Struct.has_finalizer());
    }

    #[test]
    fn the_answer_to_an_error_is_no_list_of_children() {
        assert!((sync, on_error).sync(&request()).is_ok());
        let error = (fails, on_error).sync(&request()).unwrap_err();
        let answered = error.downcast_ref::<Answered>().unwrap();
        assert_eq!(answered.status, Some(json!({"message": "no bread"})));
        assert_eq!(error.to_string(), "no bread: the oven is cold");
        let retry = answered.response(0, "u").retry;
        assert_eq!(retry, Some(Duration::from_secs(3)));
    }

    #[test]
    fn without_a_time_the_retry_comes_with_the_usual_backoff() {
        let on_error = |_: &SyncRequest, _: Error| (Value::Null, None);
        let error = (fails, on_error).sync(&request()).unwrap_err();
        assert_eq!(error.downcast_ref::<Answered>().unwrap().response(0, "u").retry, None);
    }
}
