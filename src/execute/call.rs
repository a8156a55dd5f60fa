//! Calls user code in isolation: a panic and a passed deadline are failures.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::{Duration, Instant},
};

use futures::FutureExt;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::JoinHandle,
};

use super::{Context, timed_out_guard::TimedOutGuard};
use crate::{
    journal::Failure,
    object::Quoted,
    operator::{
        Call, Failed, Permanent, RetryAfter, SyncRequest, checked_events, panic_text, watch_places,
    },
    run::{Event, HandlerError, Method, Response},
};

/// How long an asynchronous handler may take to yield after its deadline, where it is dropped. It is
/// reported as overdue only after that.
const YIELDS_WITHIN: Duration = Duration::from_secs(1);

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

/// Calls user code: where it may block, or as a future that is dropped at the deadline.
pub(super) async fn call(context: &Context, method: Method, request: SyncRequest) -> Called<'_> {
    let (deadline, called) = (context.config().handler_deadline, Instant::now());
    let mut call = begin(context, method, request);
    let joined = tokio::time::timeout(deadline, &mut call).await;
    context.count_overflow();
    if let Ok(joined) = joined {
        let returned = joined.unwrap_or_else(|_| Err(panicked("cancelled".to_owned())));
        if matches!(&returned, Err(HandlerError { failure: Failure::Panicked(_), .. })) {
            context.metrics().handler_panicked(context.name());
        }
        return Called::InTime(returned);
    }
    context.metrics().handler_overdue(context.name());
    if context.is_async() && is_dropped(&mut call).await {
        return Called::InTime(Err(timed_out(deadline, false)));
    }
    Called::TimedOut(TimedOutCall { call, deadline, guard: context.count_timed_out(called) })
}

fn begin(context: &Context, method: Method, request: SyncRequest) -> JoinHandle<Returned> {
    let handler = &context.parts.handler;
    // What a preview counts is dropped with its request.
    let request = if request.is_preview() {
        request
    } else {
        request.counting(context.handler_metrics.clone())
    };
    match method {
        Method::Related => spawn(handler.related(request.parent), Response::Related),
        Method::Sync => spawn(handler.sync(request), Response::Synced),
        Method::Finalize => spawn(handler.finalize(request), Response::Finalized),
    }
}

fn spawn<R: 'static>(call: Call<R>, response: fn(R) -> Response) -> JoinHandle<Returned> {
    watch_places();
    // The place of a panic is known to its thread.
    let returned = move |caught: thread::Result<Result<R, Failed>>| match caught {
        Ok(result) => result.map(response).map_err(HandlerError::from),
        Err(panic) => Err(panicked(panic_text(panic))),
    };
    match call {
        // The current thread makes the call, and another takes over its work if the call lasts: most
        // handlers return before another thread would have started.
        Call::Blocking(call) => tokio::spawn(async move {
            // The runtime of a test may have but one thread.
            let call = || catch_unwind(AssertUnwindSafe(call));
            match Handle::current().runtime_flavor() {
                RuntimeFlavor::CurrentThread => returned(call()),
                _ => returned(tokio::task::block_in_place(call)),
            }
        }),
        Call::Async(call) => {
            tokio::spawn(async move { returned(AssertUnwindSafe(call).catch_unwind().await) })
        }
    }
}

/// Drops the future of an asynchronous handler; fails if it blocks its thread.
async fn is_dropped(call: &mut JoinHandle<Returned>) -> bool {
    call.abort();
    tokio::time::timeout(YIELDS_WITHIN, call).await.is_ok()
}

fn panicked(message: String) -> HandlerError {
    Failure::Panicked(Quoted::new(message)).into()
}

fn timed_out(after: Duration, hangs: bool) -> HandlerError {
    Failure::HandlerTimeout { after, hangs }.into()
}

impl TimedOutCall<'_> {
    /// The late response of a handler is dropped.
    pub(super) async fn returned(self) -> Event {
        let Self { call, deadline, guard } = self;
        let _ = call.await;
        drop(guard);
        Event::HandlerReturned(Err(timed_out(deadline, true)))
    }
}

impl From<Failed> for HandlerError {
    fn from(failed: Failed) -> Self {
        let Failed { error, response, panic } = failed;
        let panic = panic.map(|panic| format!("on_error panicked: {panic}"));
        let (events, defect) = checked_events(response.events);
        let detail = panic.or(response.unserializable).or(defect);
        let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
        let message = format!("{error:#}{detail}");
        Self { failure: failure(&error, message, response.retry), status: response.status, events }
    }
}

/// A delay chosen by the handler overrides the kind of the error.
fn failure(error: &anyhow::Error, message: String, chosen: Option<Duration>) -> Failure {
    let of_error = error.downcast_ref::<RetryAfter>().map(|retry| retry.delay);
    let permanent = chosen.is_none() && error.downcast_ref::<Permanent>().is_some();
    let message = Quoted::new(message);
    Failure::Handler { message, permanent, retry_after: chosen.or(of_error) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use anyhow::{Error, anyhow};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Object, Redactor},
        operator::{
            AnyHandler, AsyncHandler, Children, ErrorResponse, FinalizeResponse, Handler,
            IntoHandler, SyncResponse,
        },
    };

    fn request() -> SyncRequest {
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        let value = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}});
        let parent = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        SyncRequest::new(parent, Children::default())
    }

    async fn made<R>(call: Call<R>) -> Result<R, HandlerError> {
        match call {
            Call::Blocking(call) => call().map_err(HandlerError::from),
            Call::Async(call) => call.await.map_err(HandlerError::from),
        }
    }

    /// The failures of a handler with this error, as a blocking and as an asynchronous one.
    async fn failed(
        error: fn() -> Error,
        on_error: fn(&Error) -> ErrorResponse,
    ) -> [HandlerError; 2] {
        let fails = move |_: &SyncRequest| -> anyhow::Result<SyncResponse> { Err(error()) };
        let awaits =
            move |_: SyncRequest| async move { anyhow::Result::<SyncResponse>::Err(error()) };
        let answers = move |_: &SyncRequest, error: &Error| on_error(error);
        let answers_later =
            move |_: SyncRequest, error: Arc<Error>| async move { on_error(&error) };
        let blocking = made((fails, answers).into_handler().sync(request())).await;
        let awaiting = made((awaits, answers_later).into_handler().sync(request())).await;
        [blocking, awaiting].map(|result| result.err().unwrap())
    }

    fn shown(failed: &HandlerError) -> String {
        failed.failure.shown(&Redactor::Nothing).to_string()
    }

    fn silent(_: &Error) -> ErrorResponse {
        ErrorResponse::default()
    }

    #[tokio::test]
    async fn the_kind_of_a_handler_error_survives_its_context() {
        let permanent = || anyhow!(Permanent("bad port".to_owned())).context("reading the spec");
        for failed in failed(permanent, silent).await {
            match failed.failure {
                Failure::Handler { message, permanent, retry_after: None } => {
                    assert!(permanent);
                    let message = Redactor::Nothing.shown(&message).to_string();
                    assert_eq!(message, "reading the spec: bad port");
                }
                other => panic!("{other:?}"),
            }
        }
        let delay = Duration::from_secs(9);
        let retry = || {
            let delay = Duration::from_secs(9);
            anyhow!(RetryAfter { message: "busy".to_owned(), delay })
        };
        for failed in failed(retry, silent).await {
            assert!(matches!(
                failed.failure,
                Failure::Handler { permanent: false, retry_after: Some(after), .. } if after == delay
            ));
        }
    }

    #[tokio::test]
    async fn on_error_chooses_the_retry_and_the_status() {
        let delay = Duration::from_secs(9);
        let on_error = |error: &Error| {
            let status = json!({"error": error.to_string()});
            ErrorResponse::status(status).retry_after(Duration::from_secs(9))
        };
        for failed in failed(|| anyhow!(Permanent("bad port".to_owned())), on_error).await {
            assert_eq!(failed.status, Some(json!({"error": "bad port"})));
            assert!(matches!(
                failed.failure,
                Failure::Handler { permanent: false, retry_after: Some(after), .. } if after == delay
            ));
        }
    }

    #[tokio::test]
    async fn an_on_error_that_panics_or_returns_invalid_json_keeps_the_error() {
        let is_odd =
            |_: &Error| ErrorResponse::status(std::collections::BTreeMap::from([(vec![1], 1)]));
        for (failed, detail) in [
            (failed(|| anyhow!("refused"), |_| panic!("index")).await, "on_error panicked: index"),
            (failed(|| anyhow!("refused"), is_odd).await, "the status cannot be written as JSON"),
        ] {
            for failed in failed {
                let message = shown(&failed);
                assert!(message.starts_with("refused (") && message.contains(detail), "{message}");
                assert_eq!(failed.status, None);
            }
        }
    }

    /// A handler whose responses overflow the stack when they are dropped.
    struct Deep;

    impl Deep {
        fn value() -> Value {
            (0..1_000_000).fold(json!("x"), |inner, _| Value::Array(vec![inner]))
        }

        fn synced() -> SyncResponse {
            let (status, children) = (Some(Self::value()), vec![Self::value().into()]);
            SyncResponse { status, children, ..SyncResponse::default() }
        }

        fn finalized() -> FinalizeResponse {
            FinalizeResponse { status: Some(Self::value()), ..FinalizeResponse::default() }
        }

        fn failed() -> ErrorResponse {
            ErrorResponse { status: Some(Self::value()), ..ErrorResponse::default() }
        }
    }

    impl Handler for Deep {
        type Parent = Object;
        type Response = SyncResponse;

        fn sync(&self, request: &SyncRequest) -> anyhow::Result<SyncResponse> {
            if request.failures > 0 { Err(anyhow!("refused")) } else { Ok(Self::synced()) }
        }

        fn finalize(&self, _: &SyncRequest) -> anyhow::Result<FinalizeResponse> {
            Ok(Self::finalized())
        }

        fn on_error(&self, _: &SyncRequest, _: &Error) -> ErrorResponse {
            Self::failed()
        }
    }

    impl AsyncHandler for Deep {
        type Parent = Object;
        type Response = SyncResponse;

        async fn sync(&self, request: SyncRequest) -> anyhow::Result<SyncResponse> {
            if request.failures > 0 { Err(anyhow!("refused")) } else { Ok(Self::synced()) }
        }

        async fn finalize(&self, _: SyncRequest) -> anyhow::Result<FinalizeResponse> {
            Ok(Self::finalized())
        }

        async fn on_error(&self, _: SyncRequest, _: Arc<Error>) -> ErrorResponse {
            Self::failed()
        }
    }

    #[tokio::test]
    async fn a_response_can_be_dropped_wherever_the_reconcile_ends() {
        for handler in [AnyHandler::blocking(Deep), AnyHandler::asynchronous(Deep)] {
            let synced = made(handler.sync(request())).await.unwrap();
            assert!(synced.response.unserializable.is_some(), "{handler:?}");
            let finalized = made(handler.finalize(request())).await.unwrap();
            assert!(finalized.unserializable.is_some(), "{handler:?}");
            let failing = request().with_failures(1);
            let failed = made(handler.sync(failing)).await.err().unwrap();
            let message = shown(&failed);
            assert_eq!(message, "refused (the status: it is nested more than 100 levels deep)");
            assert_eq!(failed.status, None);
        }
    }

    #[tokio::test]
    async fn a_parent_that_does_not_fit_is_a_permanent_error_and_the_handler_is_not_called() {
        use k8s_openapi::api::core::v1::ConfigMap;
        fn sync(_: &SyncRequest<ConfigMap>) -> anyhow::Result<SyncResponse> {
            unreachable!()
        }
        async fn sync_later(_: SyncRequest<ConfigMap>) -> anyhow::Result<SyncResponse> {
            unreachable!()
        }
        let value = json!({"metadata": {"name": "a"}, "data": {"key": 7}});
        let request = SyncRequest::example(&K8sType::of::<ConfigMap>(), value).unwrap();
        for handler in [sync.into_handler(), sync_later.into_handler()] {
            let failed = made(handler.sync(request.clone())).await.err().unwrap();
            assert!(matches!(failed.failure, Failure::Handler { permanent: true, .. }));
            let message = shown(&failed);
            let expected = "ConfigMap.v1 default/a does not fit the Rust type: `data.key`: ";
            assert!(message.contains(expected), "{message}");
        }
    }
}
