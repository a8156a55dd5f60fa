//! Step 2: calling the user's code where it can hurt nobody else.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Context, Failure, HandlerFailures, Report};
use crate::{
    history::RunStep,
    object::Object,
    operator::{Children, ErrorResponse, Handler, Permanent, RetryAfter, Shallow, SyncRequest},
};

/// User code: [`Handler::sync`] or [`Handler::finalize`].
type Code<T> = fn(&dyn Handler, &SyncRequest) -> anyhow::Result<T>;

/// A call that failed, with the status that the handler wants to show because of it.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) failure: Failure,
    pub(super) status: Option<Value>,
}

/// Calls user code where it may block; a panic and a run past the deadline are failures. An error is
/// answered there too, by [`Handler::on_error`].
///
/// Past the deadline the failure is shown at once, but this returns only when the code does: the
/// caller's permit and the parent stay busy, so that runs for one parent never overlap.
pub(super) async fn call<T: Shallow + Send + 'static>(
    context: &Context,
    (parent, children): (&Object, Children),
    report: &mut Report,
    code: Code<T>,
) -> Result<T, Failed> {
    report.lap(RunStep::Snapshot);
    let failures = report.memory.handler_failures.of(parent);
    let request = SyncRequest { parent: parent.clone(), children, failures };
    let called = call_within_deadline(context, request, report, code).await;
    report.memory.handler_failures = match &called {
        Ok(_) => HandlerFailures::default(),
        Err(_) => HandlerFailures::after(failures, parent),
    };
    report.lap(RunStep::Sync);
    called
}

async fn call_within_deadline<T: Shallow + Send + 'static>(
    context: &Context,
    request: SyncRequest,
    report: &mut Report,
    code: Code<T>,
) -> Result<T, Failed> {
    let deadline = context.config().handler_deadline;
    let (handler, parent) = (context.handler().clone(), request.parent.clone());
    let called = Instant::now();
    // The thread that is here calls, and another takes over its work if that lasts: most handlers
    // return sooner than another thread would have begun.
    let calling = async move { tokio::task::block_in_place(|| asked(&*handler, &request, code)) };
    let mut call = tokio::spawn(calling);
    let Ok(joined) = tokio::time::timeout(deadline, &mut call).await else {
        let _hanging = context.hangs(called);
        context.metrics().handler_overdue(context.name());
        super::status::show_overdue(context, &parent, deadline, report).await;
        // The answer of a handler that was given up on is not trusted.
        let _ = call.await;
        return Err(Failure::Overdue(deadline).into());
    };
    joined.unwrap_or_else(|error| {
        context.metrics().handler_panicked(context.name());
        let message = error.try_into_panic().map_or_else(|_| "cancelled".to_owned(), panic_text);
        Err(Failure::Panicked(message).into())
    })
}

/// The answer can be dropped wherever the run may end.
fn asked<T: Shallow>(
    handler: &dyn Handler,
    request: &SyncRequest,
    code: Code<T>,
) -> Result<T, Failed> {
    let answer = code(handler, request).map(T::shallow);
    answer.map_err(|error| answered(handler, request, &error))
}

/// What a handler's error means, after the handler was asked about it.
fn answered(handler: &dyn Handler, request: &SyncRequest, error: &anyhow::Error) -> Failed {
    let answer = catch_unwind(AssertUnwindSafe(|| handler.on_error(request, error).shallow()));
    let (answer, beside) = match answer {
        Ok(answer) => {
            let beside = answer.unserializable.clone();
            (answer, beside)
        }
        Err(panic) => {
            (ErrorResponse::default(), Some(format!("on_error panicked: {}", panic_text(panic))))
        }
    };
    let beside = beside.map(|beside| format!(" ({beside})")).unwrap_or_default();
    let message = format!("{error:#}{beside}");
    Failed { failure: handler_failure(error, message, answer.retry), status: answer.status }
}

/// The time that the handler chose for this error goes before the kind of the error.
fn handler_failure(error: &anyhow::Error, message: String, chosen: Option<Duration>) -> Failure {
    let of_error = error.downcast_ref::<RetryAfter>().map(|retry| retry.delay);
    let permanent = chosen.is_none() && error.downcast_ref::<Permanent>().is_some();
    Failure::Handler { message, permanent, retry_after: chosen.or(of_error) }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { failure, status: None }
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().map_or("no message", |text| *text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Object},
        operator::{Children, FinalizeResponse, SyncResponse},
    };

    fn request() -> SyncRequest {
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        let value = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}});
        let parent = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        SyncRequest::new(parent, Children::default())
    }

    fn answer_of<E>(on_error: E, error: &anyhow::Error) -> Failed
    where
        E: Fn(&SyncRequest, &anyhow::Error) -> ErrorResponse + Send + Sync + 'static,
    {
        let sync = |_: &SyncRequest| -> anyhow::Result<SyncResponse> { unreachable!() };
        answered(&(sync, on_error), &request(), error)
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
                assert_eq!(message, "reading the spec: bad port");
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
    fn the_answer_to_an_error_chooses_the_retry_and_the_status() {
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
    fn an_answer_that_panics_or_is_no_json_leaves_the_error_as_it_was() {
        let odd = std::collections::BTreeMap::from([(vec![1], 1)]);
        let panics = |_: &SyncRequest, _: &anyhow::Error| -> ErrorResponse { panic!("oh") };
        let is_odd = move |_: &SyncRequest, _: &anyhow::Error| ErrorResponse::status(&odd);
        for (failed, beside) in [
            (answer_of(panics, &anyhow!("cold")), "on_error panicked: oh"),
            (answer_of(is_odd, &anyhow!("cold")), "the status cannot be written as JSON"),
        ] {
            let message = failed.failure.to_string();
            assert!(message.starts_with("cold (") && message.contains(beside), "{message}");
            assert_eq!(failed.status, None);
        }
    }

    /// A handler of which each answer would overflow the stack when it is dropped.
    struct Deep;

    impl Deep {
        fn value() -> Value {
            (0..1_000_000).fold(json!("x"), |inner, _| Value::Array(vec![inner]))
        }
    }

    impl Handler for Deep {
        fn sync(&self, _: &SyncRequest) -> anyhow::Result<SyncResponse> {
            let (status, children) = (Some(Self::value()), vec![Self::value()]);
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
    fn what_a_handler_answers_can_be_dropped_wherever_the_run_ends() {
        let request = request();
        let synced = asked(&Deep, &request, <dyn Handler>::sync).unwrap();
        assert!(synced.unserializable.is_some());
        let finalized = asked(&Deep, &request, <dyn Handler>::finalize).unwrap();
        assert!(finalized.unserializable.is_some());
        let failed = answered(&Deep, &request, &anyhow!("cold"));
        let message = failed.failure.to_string();
        assert_eq!(message, "cold (the status: it is nested more than 100 levels deep)");
        assert_eq!(failed.status, None);
    }

    #[test]
    fn a_panic_message_is_text_of_either_kind() {
        assert_eq!(panic_text(Box::new("static")), "static");
        assert_eq!(panic_text(Box::new("owned".to_owned())), "owned");
        assert_eq!(panic_text(Box::new(7)), "no message");
    }
}
