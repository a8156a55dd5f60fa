//! Makes a handler of a failable handler. Keeps no state between calls.

use std::time::Duration;

use anyhow::Error;

use super::{BackoffConfig, FailableHandler, HandlerResult};
use crate::handler::{Answered, FinalizeResponse, Handler, Retry, SyncRequest, SyncResponse};

/// A [`Handler`] that shows the errors of a [`FailableHandler`] in the status of the parent and retries with
/// a backoff of its own.
#[derive(Debug, Clone, Copy)]
pub struct DefaultFailableHandler<H> {
    inner: H,
    backoff: BackoffConfig,
    regular_resync: Option<Duration>,
}

impl<H: FailableHandler> DefaultFailableHandler<H> {
    /// Retries with the default backoff, and has no regular resync.
    pub fn wrap(failable: H) -> Self {
        Self::new(failable, BackoffConfig::default(), None)
    }

    /// Retries with this backoff; after a success calls the handler again after this time, if given.
    pub fn new(failable: H, backoff: BackoffConfig, regular_resync: Option<Duration>) -> Self {
        Self { inner: failable, backoff, regular_resync }
    }

    /// Calls the handler again after this time when a sync succeeded and nothing changed.
    #[must_use]
    pub fn with_regular_resync(mut self, interval: Duration) -> Self {
        self.regular_resync = Some(interval);
        self
    }

    /// Retries with this backoff.
    #[must_use]
    pub fn with_backoff(mut self, backoff: BackoffConfig) -> Self {
        self.backoff = backoff;
        self
    }

    fn failed(
        &self,
        request: &SyncRequest,
        result: HandlerResult<H::Validated, H::Error>,
        retry: Retry,
    ) -> Error {
        let why = result.error().map(|error| format!("{error:?}")).unwrap_or_default();
        let message = format!("{}: {why}", result.what_failed());
        match serde_json::to_value(self.inner.determine_status(request, result)) {
            Ok(status) => Answered { message, status: Some(status), retry }.into(),
            Err(odd) => {
                let message = format!("{message}; the status cannot be written as JSON: {odd}");
                Answered { message, status: None, retry }.into()
            }
        }
    }
}

impl<H: FailableHandler> Handler for DefaultFailableHandler<H> {
    /// # Errors
    /// That of a part, with the status that the handler determined for it.
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
        let failed = |result| self.failed(request, result, Retry::Backoff(self.backoff));
        let mut validated = match self.inner.validate(request) {
            Ok(validated) => validated,
            Err(error) => return Err(failed(HandlerResult::ValidationFailed(error))),
        };
        let children = match self.inner.sync_children(&mut validated, request) {
            Ok(children) => children,
            Err(error) => return Err(failed(HandlerResult::SyncFailed(validated, error))),
        };
        let result = HandlerResult::SyncSuccess(validated);
        let status = serde_json::to_value(self.inner.determine_status(request, result))?;
        Ok(SyncResponse { status, children, resync: self.regular_resync })
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse, Error> {
        if let Err(error) = self.inner.finalize(request) {
            // Giving up would leave external objects behind.
            let retry = Retry::ForEver(self.backoff);
            return Err(self.failed(request, HandlerResult::FinalizeFailed(error), retry));
        }
        let status = self.inner.determine_status(request, HandlerResult::FinalizeSuccess);
        Ok(FinalizeResponse { status: serde_json::to_value(status)?, retry: None })
    }

    fn has_finalizer(&self) -> bool {
        self.inner.has_finalizer()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::handler::test_request as request;

    /// Fails in this step.
    struct Failing(&'static str);

    impl Failing {
        fn step(&self, name: &str) -> Result<(), String> {
            if self.0 == name { Err(format!("no {name}")) } else { Ok(()) }
        }
    }

    impl FailableHandler for Failing {
        type Validated = String;
        type Error = String;
        type Status = Value;

        fn validate(&self, _: &SyncRequest) -> Result<String, String> {
            self.step("validate").map(|()| "salt".to_owned())
        }

        fn sync_children(
            &self,
            validated: &mut String,
            _: &SyncRequest,
        ) -> Result<Vec<Value>, String> {
            validated.push('!');
            self.step("sync").map(|()| vec![json!({"kind": "ConfigMap"})])
        }

        fn finalize(&self, _: &SyncRequest) -> Result<(), String> {
            self.step("finalize")
        }

        fn determine_status(
            &self,
            _: &SyncRequest,
            result: HandlerResult<String, String>,
        ) -> Value {
            json!({"error": result.error(), "validated": result.into_validated()})
        }
    }

    fn handler(fails: &'static str) -> DefaultFailableHandler<Failing> {
        DefaultFailableHandler::wrap(Failing(fails))
            .with_backoff(BackoffConfig::fixed_interval(Duration::from_secs(2)))
            .with_regular_resync(Duration::from_secs(9))
    }

    fn answer(error: &Error) -> (String, Value, Option<Duration>) {
        let response = error.downcast_ref::<Answered>().unwrap().response(0, "u");
        (error.to_string(), response.status.unwrap(), response.retry)
    }

    #[test]
    fn a_success_returns_children_status_and_the_regular_resync() {
        let response = handler("nothing").sync(&request()).unwrap();
        assert_eq!(response.children.len(), 1);
        assert_eq!(response.status, json!({"error": null, "validated": "salt!"}));
        assert_eq!(response.resync, Some(Duration::from_secs(9)));
        let finalized = handler("nothing").finalize(&request()).unwrap();
        assert_eq!(finalized.retry, None);
    }

    #[test]
    fn a_failure_is_an_error_that_carries_status_and_retry() {
        let retry = Some(Duration::from_secs(2));
        let failed = handler("validate").sync(&request()).unwrap_err();
        let status = json!({"error": "no validate", "validated": null});
        assert_eq!(answer(&failed), ("validation failed: \"no validate\"".into(), status, retry));
        let failed = handler("sync").sync(&request()).unwrap_err();
        let status = json!({"error": "no sync", "validated": "salt!"});
        assert_eq!(answer(&failed), ("sync failed: \"no sync\"".into(), status, retry));
        let failed = handler("finalize").finalize(&request()).unwrap_err();
        let status = json!({"error": "no finalize", "validated": null});
        assert_eq!(answer(&failed), ("finalize failed: \"no finalize\"".into(), status, retry));
    }

    #[test]
    fn a_sync_may_be_given_up_but_not_a_finalize() {
        let given_up =
            |error: &Error| error.downcast_ref::<Answered>().unwrap().is_given_up(0, "u");
        let handler = |fails| handler(fails).with_backoff(BackoffConfig::never_retry());
        let failed = handler("sync").sync(&request()).unwrap_err();
        assert!(given_up(&failed) && answer(&failed).2.is_none());
        let failed = handler("finalize").finalize(&request()).unwrap_err();
        assert!(!given_up(&failed) && answer(&failed).2.is_some());
    }
}
