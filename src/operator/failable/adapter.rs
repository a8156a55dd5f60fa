//! Makes a handler of a failable handler. Keeps no state between calls.

use std::{fmt, time::Duration};

use anyhow::{Error, Result, anyhow};
use serde_json::Value;

use super::{BackoffConfig, FailableHandler, HandlerResult};
use crate::{
    object::Object,
    operator::{
        DesiredChild, ErrorResponse, FinalizeResponse, Handler, Permanent, SyncRequest,
        SyncResponse,
    },
};

/// A [`Handler`] that shows the errors of a [`FailableHandler`] in the status of the parent and
/// retries with a backoff of its own.
#[derive(Debug, Clone, Copy)]
pub struct DefaultFailableHandler<H> {
    inner: H,
    backoff: BackoffConfig,
    regular_resync: Option<Duration>,
}

/// An error with the response to it, which only the failable handler can determine.
#[derive(Debug)]
struct WithResponse {
    what_failed: &'static str,
    response: ErrorResponse,
}

impl<H: FailableHandler> DefaultFailableHandler<H> {
    /// Retries with the default backoff, and has no regular resync.
    pub fn wrap(failable: H) -> Self {
        Self::new(failable, BackoffConfig::default(), None)
    }

    /// Retries with this backoff; after a success reconciles again after this time, if given.
    pub fn new(failable: H, backoff: BackoffConfig, regular_resync: Option<Duration>) -> Self {
        Self { inner: failable, backoff, regular_resync }
    }

    /// Reconciles again after this time when a sync succeeded and nothing changed, unless
    /// [`FailableHandler::resync`] returns another.
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

    fn sync_failed(
        &self,
        request: &SyncRequest,
        result: HandlerResult<H::Validated, H::Error>,
    ) -> Error {
        let is_permanent = result.error().is_some_and(|error| self.inner.is_permanent(error));
        let retry = if is_permanent { None } else { self.backoff.next(request) };
        self.failed(request, result, retry)
    }

    /// An error that carries its response. Without a time for a retry it is permanent.
    fn failed(
        &self,
        request: &SyncRequest,
        result: HandlerResult<H::Validated, H::Error>,
        retry: Option<Duration>,
    ) -> Error {
        // `{:#}` includes the causes of an `anyhow::Error`.
        let message = result.error().map(|error| format!("{error:#}")).unwrap_or_default();
        let what_failed = result.what_failed();
        let status = ErrorResponse::status(self.inner.determine_status(request, result));
        let response = ErrorResponse { retry, ..status };
        let error = match retry {
            Some(_) => anyhow!(message),
            None => anyhow!(Permanent(message)),
        };
        error.context(WithResponse { what_failed, response })
    }
}

impl<H: FailableHandler> Handler for DefaultFailableHandler<H> {
    type Parent = Object;
    type Status = Value;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        let mut validated = match self.inner.validate(request) {
            Ok(validated) => validated,
            Err(error) => {
                return Err(self.sync_failed(request, HandlerResult::ValidationFailed(error)));
            }
        };
        let children = match self.inner.sync_children(&mut validated, request) {
            Ok(children) => children,
            Err(error) => {
                return Err(self.sync_failed(request, HandlerResult::SyncFailed(validated, error)));
            }
        };
        let resync = self.inner.resync(&validated).or(self.regular_resync);
        let result = HandlerResult::SyncSuccess(validated);
        let response = SyncResponse::status(self.inner.determine_status(request, result));
        let children = children.into_iter().map(DesiredChild::from).collect();
        Ok(SyncResponse { children, resync, ..response.untyped() })
    }

    fn has_finalizer(&self) -> bool {
        self.inner.has_finalizer()
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        if let Err(error) = self.inner.finalize(request) {
            // Giving up would leave external objects behind.
            let retry = self.backoff.next_for_ever(request);
            return Err(self.failed(request, HandlerResult::FinalizeFailed(error), Some(retry)));
        }
        let status = self.inner.determine_status(request, HandlerResult::FinalizeSuccess);
        Ok(FinalizeResponse::done().with_status(status))
    }

    fn on_error(&self, _: &SyncRequest, error: &Error) -> ErrorResponse {
        error.downcast_ref::<WithResponse>().map(|error| error.response.clone()).unwrap_or_default()
    }
}

impl fmt::Display for WithResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what_failed)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::object::K8sType;

    /// Fails in the step that the parent's `spec.fail` names.
    struct Failing;

    impl FailableHandler for Failing {
        type Validated = String;
        type Error = String;
        type Status = Value;

        fn validate(&self, request: &SyncRequest) -> Result<String, String> {
            let salt = if fails(request, "soon") { "sugar" } else { "salt" };
            fail(request, "validate").map(|()| salt.to_owned())
        }

        fn sync_children(
            &self,
            validated: &mut String,
            request: &SyncRequest,
        ) -> Result<Vec<Value>, String> {
            validated.push('!');
            fail(request, "sync").map(|()| vec![json!({"kind": "ConfigMap"})])
        }

        fn resync(&self, validated: &String) -> Option<Duration> {
            validated.starts_with("sugar").then_some(Duration::from_secs(1))
        }

        fn has_finalizer(&self) -> bool {
            true
        }

        fn finalize(&self, request: &SyncRequest) -> Result<(), String> {
            fail(request, "finalize")
        }

        fn determine_status(
            &self,
            _: &SyncRequest,
            result: HandlerResult<String, String>,
        ) -> Value {
            json!({"error": result.error(), "validated": result.into_validated()})
        }

        fn is_permanent(&self, error: &String) -> bool {
            error == "no validate"
        }
    }

    fn fail(request: &SyncRequest, step: &str) -> Result<(), String> {
        if fails(request, step) { Err(format!("no {step}")) } else { Ok(()) }
    }

    fn fails(request: &SyncRequest, step: &str) -> bool {
        request.parent.field("spec").unwrap_or_default()["fail"] == step
    }

    fn request(fails: &str) -> SyncRequest {
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        let parent = json!({"metadata": {"name": "a"}, "spec": {"fail": fails}});
        SyncRequest::example(&ty, parent).unwrap()
    }

    fn handler() -> DefaultFailableHandler<Failing> {
        DefaultFailableHandler::wrap(Failing)
            .with_backoff(BackoffConfig::fixed_interval(Duration::from_secs(2)))
            .with_regular_resync(Duration::from_secs(9))
    }

    fn response(error: &Error) -> (String, Value, Option<Duration>) {
        let ErrorResponse { status, retry, unserializable } =
            handler().on_error(&request(""), error);
        assert_eq!(unserializable, None);
        (format!("{error:#}"), status.unwrap(), retry)
    }

    #[test]
    fn a_success_returns_children_status_and_the_regular_resync() {
        let response = handler().sync(&request("")).unwrap();
        assert_eq!(response.children.len(), 1);
        assert_eq!(response.status, Some(json!({"error": null, "validated": "salt!"})));
        assert_eq!(response.resync, Some(Duration::from_secs(9)));
    }

    #[test]
    fn a_resync_of_the_handler_overrides_the_regular_one() {
        let resync = |handler: DefaultFailableHandler<Failing>, fails| {
            handler.sync(&request(fails)).unwrap().resync
        };
        let soon = Some(Duration::from_secs(1));
        assert_eq!(resync(handler(), "soon"), soon);
        assert_eq!(resync(DefaultFailableHandler::wrap(Failing), "soon"), soon);
        assert_eq!(resync(DefaultFailableHandler::wrap(Failing), ""), None);
    }

    #[test]
    fn a_failure_is_an_error_that_carries_status_and_retry() {
        let retry = Some(Duration::from_secs(2));
        let failed = handler().sync(&request("sync")).unwrap_err();
        let status = json!({"error": "no sync", "validated": "salt!"});
        assert_eq!(response(&failed), ("sync failed: no sync".to_owned(), status, retry));
        let failed = handler().finalize(&request("finalize")).unwrap_err();
        let status = json!({"error": "no finalize", "validated": null});
        assert_eq!(response(&failed), ("finalize failed: no finalize".to_owned(), status, retry));
    }

    #[test]
    fn an_error_that_no_retry_fixes_is_permanent() {
        let failed = handler().sync(&request("validate")).unwrap_err();
        assert!(failed.downcast_ref::<Permanent>().is_some());
        let status = json!({"error": "no validate", "validated": null});
        assert_eq!(response(&failed), ("validation failed: no validate".to_owned(), status, None));
    }

    #[test]
    fn a_sync_may_be_given_up_but_not_a_finalize() {
        let handler = handler().with_backoff(BackoffConfig::never_retry());
        let failed = handler.sync(&request("sync")).unwrap_err();
        assert!(failed.downcast_ref::<Permanent>().is_some());
        let failed = handler.finalize(&request("finalize")).unwrap_err();
        assert!(failed.downcast_ref::<Permanent>().is_none());
        assert!(response(&failed).2.is_some());
        assert_eq!(handler.finalize(&request("")).unwrap().retry, None);
    }
}
