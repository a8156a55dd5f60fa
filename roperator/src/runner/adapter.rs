//! A handler of roperator as one of Operetta.

use anyhow::{Error, Result};
use operetta::{
    object::Object,
    operator::{self, ErrorResponse, Permanent},
};

use crate::handler::{Answered, Handler, SyncRequest, SyncResponse};

/// Makes a handler of Operetta of one of roperator.
pub(super) struct Adapter<H>(pub(super) H);

impl<H: Handler> operator::Handler for Adapter<H> {
    type Parent = Object;
    type Response = operator::SyncResponse;

    fn sync(&self, request: &operator::SyncRequest) -> Result<operator::SyncResponse> {
        let response = self.0.sync(&SyncRequest::of(request)?);
        response.map(SyncResponse::into_operetta).map_err(|error| or_give_up(error, request))
    }

    fn has_finalizer(&self) -> bool {
        self.0.has_finalizer()
    }

    fn finalize(&self, request: &operator::SyncRequest) -> Result<operator::FinalizeResponse> {
        Ok(self.0.finalize(&SyncRequest::of(request)?)?.into_operetta())
    }

    fn on_error(&self, request: &operator::SyncRequest, error: &Error) -> ErrorResponse {
        let answered = error.downcast_ref::<Answered>();
        let uid = request.parent.uid().to_string();
        answered.map(|it| it.response(request.failures, &uid)).unwrap_or_default()
    }
}

/// An error that is not retried is permanent.
fn or_give_up(error: Error, request: &operator::SyncRequest) -> Error {
    let uid = request.parent.uid().to_string();
    let answered = error.downcast_ref::<Answered>();
    if answered.is_some_and(|it| it.is_given_up(request.failures, &uid)) {
        error.context(Permanent("it is not retried before the parent changes".to_owned()))
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    use operetta::{object::K8sType, operator::Handler as _};
    use serde_json::{Value, json};

    use super::*;
    use crate::handler::{
        FinalizeResponse,
        failable::{BackoffConfig, DefaultFailableHandler},
    };

    fn request() -> operator::SyncRequest {
        let parent = json!({"metadata": {"name": "a"}});
        let request = operator::SyncRequest::example(&K8sType::of::<ConfigMap>(), parent).unwrap();
        request.with_child::<Pod>(json!({"metadata": {"name": "b"}})).unwrap()
    }

    #[test]
    fn a_request_has_the_parent_and_its_children() {
        let sync = |request: &SyncRequest| {
            let pods = request.children().of_type(crate::k8s_types::core::v1::Pod);
            let names =
                json!({"parent": request.parent.name(), "pod": pods.first().unwrap().name()});
            Ok(SyncResponse::new(names))
        };
        let response = Adapter(sync).sync(&request()).unwrap();
        assert_eq!(response.status, Some(json!({"parent": "a", "pod": "b"})));
        assert!(!Adapter(sync).has_finalizer());
    }

    #[test]
    fn a_finalize_reaches_the_handler() {
        struct Finalizing;
        impl Handler for Finalizing {
            fn sync(&self, _: &SyncRequest) -> Result<SyncResponse> {
                Ok(SyncResponse::new(Value::Null))
            }

            fn finalize(&self, _: &SyncRequest) -> Result<FinalizeResponse> {
                let retry = Some(Duration::from_secs(2));
                Ok(FinalizeResponse { status: json!({"phase": "Draining"}), retry })
            }
        }
        assert!(Adapter(Finalizing).has_finalizer());
        let response = Adapter(Finalizing).finalize(&request()).unwrap();
        assert_eq!(response.retry, Some(Duration::from_secs(2)));
        assert_eq!(response.status, Some(json!({"phase": "Draining"})));
    }

    #[test]
    fn the_answer_of_a_handler_to_its_error_is_that_of_operetta() {
        let fails = |_: &SyncRequest| Err(Error::msg("no oven"));
        let on_error = |_: &SyncRequest, error: Error| {
            (json!({"error": error.to_string()}), Some(Duration::from_secs(7)))
        };
        let handler = Adapter((fails, on_error));
        let error = handler.sync(&request()).unwrap_err();
        let response = handler.on_error(&request(), &error);
        assert_eq!(response.status, Some(json!({"error": "no oven"})));
        assert_eq!(response.retry, Some(Duration::from_secs(7)));
        let plain = Adapter(fails);
        let error = plain.sync(&request()).unwrap_err();
        assert_eq!(plain.on_error(&request(), &error), ErrorResponse::default());
    }

    #[test]
    fn an_error_that_is_given_up_is_permanent() {
        let parts = (
            |_: &SyncRequest| Err::<Vec<Value>, _>("no oven"),
            |_: &SyncRequest, error: Option<&str>| json!({"error": error}),
        );
        let handler = DefaultFailableHandler::wrap(parts);
        let handler = Adapter(handler.with_backoff(BackoffConfig::never_retry()));
        let error = handler.sync(&request()).unwrap_err();
        assert!(error.downcast_ref::<Permanent>().is_some(), "{error:#}");
        assert!(format!("{error:#}").ends_with("sync failed: \"no oven\""), "{error:#}");
        let response = handler.on_error(&request(), &error);
        assert_eq!(response.status, Some(json!({"error": "no oven"})));
    }
}
