//! Step 2: calling the user's code where it can hurt nobody else.

use std::any::Any;

use super::{Context, Failure, Report};
use crate::{
    object::Object,
    operator::{Permanent, RetryAfter},
};

/// Calls user code on a blocking thread; a panic and a run past the deadline are failures.
///
/// Past the deadline the failure is shown at once, but this returns only when the code does: the
/// caller's permit and the parent stay busy, so that runs for one parent never overlap.
pub(super) async fn call<T: Send + 'static>(
    context: &Context,
    parent: &Object,
    report: &mut Report,
    code: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let deadline = context.config().handler_deadline;
    let mut thread = tokio::task::spawn_blocking(code);
    let Ok(joined) = tokio::time::timeout(deadline, &mut thread).await else {
        context.metrics().handler_overdue(context.name());
        super::status::show_overdue(context, parent, deadline, report).await;
        // The answer of a handler that was given up on is not trusted.
        let _ = thread.await;
        return Err(Failure::Overdue(deadline));
    };
    match joined {
        Ok(result) => result.map_err(|error| handler_failure(&error)),
        Err(error) => {
            context.metrics().handler_panicked(context.name());
            let message = error.try_into_panic().map_or_else(|_| "cancelled".to_owned(), text);
            Err(Failure::Panicked(message))
        }
    }
}

fn handler_failure(error: &anyhow::Error) -> Failure {
    let retry_after = error.downcast_ref::<RetryAfter>().map(|retry| retry.delay);
    let permanent = error.downcast_ref::<Permanent>().is_some();
    Failure::Handler { message: format!("{error:#}"), permanent, retry_after }
}

fn text(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().map_or("no message", |text| *text).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn the_kind_of_a_handler_error_survives_its_context() {
        let permanent = anyhow!(Permanent("bad port".to_owned())).context("reading the spec");
        match handler_failure(&permanent) {
            Failure::Handler { message, permanent, retry_after: None } => {
                assert!(permanent);
                assert_eq!(message, "reading the spec: bad port");
            }
            other => panic!("{other:?}"),
        }
        let delay = Duration::from_secs(9);
        let retry = anyhow!(RetryAfter { message: "busy".to_owned(), delay });
        assert!(matches!(
            handler_failure(&retry),
            Failure::Handler { permanent: false, retry_after: Some(after), .. } if after == delay
        ));
    }

    #[test]
    fn a_panic_message_is_text_of_either_kind() {
        assert_eq!(text(Box::new("static")), "static");
        assert_eq!(text(Box::new("owned".to_owned())), "owned");
        assert_eq!(text(Box::new(7)), "no message");
    }
}
