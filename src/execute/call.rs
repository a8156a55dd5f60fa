//! Calls user code in isolation: a panic and a passed deadline are failures.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use super::{Context, timed_out_guard::TimedOutGuard};
use crate::{
    journal::Failure,
    object::Quoted,
    operator::{ErrorResponse, Handler, Permanent, RetryAfter, Shallow, SyncRequest},
    run::{Event, HandlerError, Purpose, Response},
};

type Returned = Result<Response, HandlerError>;

pub(super) enum Called<'a> {
    InTime(Returned),
    TimedOut(TimedOutCall<'a>),
}

/// A call past its deadline. The permit and the parent stay occupied until it returns, so that reconciles of
/// one parent never overlap.
pub(super) struct TimedOutCall<'a> {
    call: JoinHandle<Returned>,
    pub(super) deadline: Duration,
    guard: TimedOutGuard<'a>,
}

/// Calls user code where it may block. [`Handler::on_error`] is called there too.
pub(super) async fn call(context: &Context, purpose: Purpose, request: SyncRequest) -> Called<'_> {
    let deadline = context.config().handler_deadline;
    let (handler, called) = (context.parts.handler.clone(), Instant::now());
    // The current thread makes the call, and another takes over its work if the call lasts: most handlers
    // return before another thread would have started.
    let calling =
        async move { tokio::task::block_in_place(|| asked(&*handler, purpose, &request)) };
    let mut call = tokio::spawn(calling);
    if let Ok(joined) = tokio::time::timeout(deadline, &mut call).await {
        return Called::InTime(joined.unwrap_or_else(|error| Err(panicked(context, error))));
    }
    context.metrics().handler_overdue(context.name());
    Called::TimedOut(TimedOutCall { call, deadline, guard: context.count_timed_out(called) })
}

fn panicked(context: &Context, error: tokio::task::JoinError) -> HandlerError {
    context.metrics().handler_panicked(context.name());
    let message = error.try_into_panic().map_or_else(|_| "cancelled".to_owned(), panic_text);
    HandlerError { failure: Failure::Panicked(Quoted::new(message)), status: None }
}

impl TimedOutCall<'_> {
    /// The late response of a handler is dropped.
    pub(super) async fn returned(self) -> Event {
        let Self { call, deadline, guard } = self;
        let _ = call.await;
        drop(guard);
        let failure = Failure::HandlerTimeout(deadline);
        Event::HandlerReturned(Err(HandlerError { failure, status: None }))
    }
}

/// The response can be dropped wherever the reconcile may end.
fn asked(handler: &dyn Handler, purpose: Purpose, request: &SyncRequest) -> Returned {
    let answer = match purpose {
        Purpose::Sync => handler.sync(request).map(Shallow::shallow).map(Response::Synced),
        Purpose::Finalize => {
            handler.finalize(request).map(Shallow::shallow).map(Response::Finalized)
        }
    };
    answer.map_err(|error| answered(handler, request, &error))
}

fn answered(handler: &dyn Handler, request: &SyncRequest, error: &anyhow::Error) -> HandlerError {
    let answer = catch_unwind(AssertUnwindSafe(|| handler.on_error(request, error).shallow()));
    let (answer, detail) = match answer {
        Ok(answer) => {
            let detail = answer.unserializable.clone();
            (answer, detail)
        }
        Err(panic) => {
            (ErrorResponse::default(), Some(format!("on_error panicked: {}", panic_text(panic))))
        }
    };
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    let message = format!("{error:#}{detail}");
    HandlerError { failure: handler_failure(error, message, answer.retry), status: answer.status }
}

/// A delay chosen by the handler overrides the kind of the error.
fn handler_failure(error: &anyhow::Error, message: String, chosen: Option<Duration>) -> Failure {
    let of_error = error.downcast_ref::<RetryAfter>().map(|retry| retry.delay);
    let permanent = chosen.is_none() && error.downcast_ref::<Permanent>().is_some();
    let message = Quoted::new(message);
    Failure::Handler { message, permanent, retry_after: chosen.or(of_error) }
}

/// The message of a panic.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().map_or("no message", |text| *text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Object, Redactor},
        operator::{Children, FinalizeResponse, SyncResponse},
    };

    fn request() -> SyncRequest {
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        let value = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}});
        let parent = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        SyncRequest::new(parent, Children::default())
    }

    fn answer_of<E>(on_error: E, error: &anyhow::Error) -> HandlerError
    where
        E: Fn(&SyncRequest, &anyhow::Error) -> ErrorResponse + Send + Sync + 'static,
    {
        let sync = |_: &SyncRequest| -> anyhow::Result<SyncResponse> { unreachable!() };
        answered(&(sync, on_error), &request(), error)
    }

    fn clear(text: &Quoted) -> String {
        Redactor::Nothing.shown(text).to_string()
    }

    fn shown(failed: &HandlerError) -> String {
        failed.failure.shown(&Redactor::Nothing).to_string()
    }

    fn silent(_: &SyncRequest, _: &anyhow::Error) -> ErrorResponse {
        ErrorResponse::default()
    }

    #[test]
    fn the_kind_of_a_handler_error_survives_its_context() {
        let permanent = anyhow!(Permanent("bad port".to_owned())).context("reading the spec");
        match answer_of(silent, &permanent).failure {
            Failure::Handler { message, permanent, retry_after: None } => {
                assert!(permanent);
                assert_eq!(clear(&message), "reading the spec: bad port");
            }
            other => panic!("{other:?}"),
        }
        let delay = Duration::from_secs(9);
        let retry = anyhow!(RetryAfter { message: "busy".to_owned(), delay });
        assert!(matches!(
            answer_of(silent, &retry).failure,
            Failure::Handler { permanent: false, retry_after: Some(after), .. } if after == delay
        ));
    }

    #[test]
    fn on_error_chooses_the_retry_and_the_status() {
        let delay = Duration::from_secs(9);
        let on_error = move |_: &SyncRequest, error: &anyhow::Error| {
            ErrorResponse::status(json!({"error": error.to_string()})).retry_after(delay)
        };
        let failed = answer_of(on_error, &anyhow!(Permanent("bad port".to_owned())));
        assert_eq!(failed.status, Some(json!({"error": "bad port"})));
        assert!(matches!(
            failed.failure,
            Failure::Handler { permanent: false, retry_after: Some(after), .. } if after == delay
        ));
    }

    #[test]
    fn an_on_error_that_panics_or_returns_invalid_json_keeps_the_error() {
        let odd = std::collections::BTreeMap::from([(vec![1], 1)]);
        let panics = |_: &SyncRequest, _: &anyhow::Error| -> ErrorResponse { panic!("index") };
        let is_odd = move |_: &SyncRequest, _: &anyhow::Error| ErrorResponse::status(&odd);
        for (failed, detail) in [
            (answer_of(panics, &anyhow!("refused")), "on_error panicked: index"),
            (answer_of(is_odd, &anyhow!("refused")), "the status cannot be written as JSON"),
        ] {
            let message = shown(&failed);
            assert!(message.starts_with("refused (") && message.contains(detail), "{message}");
            assert_eq!(failed.status, None);
        }
    }

    /// A handler whose responses overflow the stack when they are dropped.
    struct Deep;

    impl Deep {
        fn value() -> Value {
            (0..1_000_000).fold(json!("x"), |inner, _| Value::Array(vec![inner]))
        }
    }

    impl Handler for Deep {
        fn sync(&self, _: &SyncRequest) -> anyhow::Result<SyncResponse> {
            let (status, children) = (Some(Self::value()), vec![Self::value().into()]);
            Ok(SyncResponse { status, children, ..SyncResponse::default() })
        }

        fn finalize(&self, _: &SyncRequest) -> anyhow::Result<FinalizeResponse> {
            Ok(FinalizeResponse { status: Some(Self::value()), ..FinalizeResponse::default() })
        }

        fn on_error(&self, _: &SyncRequest, _: &anyhow::Error) -> ErrorResponse {
            ErrorResponse { status: Some(Self::value()), ..ErrorResponse::default() }
        }
    }

    #[test]
    fn a_response_can_be_dropped_wherever_the_reconcile_ends() {
        let request = request();
        let synced = asked(&Deep, Purpose::Sync, &request).unwrap();
        assert!(matches!(synced, Response::Synced(it) if it.unserializable.is_some()));
        let finalized = asked(&Deep, Purpose::Finalize, &request).unwrap();
        assert!(matches!(finalized, Response::Finalized(it) if it.unserializable.is_some()));
        let failed = answered(&Deep, &request, &anyhow!("refused"));
        let message = shown(&failed);
        assert_eq!(message, "refused (the status: it is nested more than 100 levels deep)");
        assert_eq!(failed.status, None);
    }

    #[test]
    fn a_panic_message_is_a_str_or_a_string() {
        assert_eq!(panic_text(Box::new("static")), "static");
        assert_eq!(panic_text(Box::new("owned".to_owned())), "owned");
        assert_eq!(panic_text(Box::new(7)), "no message");
    }
}
