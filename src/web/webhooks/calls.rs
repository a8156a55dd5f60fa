//! Calls admission and conversion handlers, within limits of time and number. A panic and an error are values here.

use std::{panic::AssertUnwindSafe, panic::catch_unwind, sync::Arc, time::Duration};

use futures::FutureExt;
use serde_json::Value;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
    time::{Instant, timeout_at},
};

use crate::{
    admission::Conversion,
    operator::{
        admission::{AdmissionRequest, Answered, Call, Webhook},
        conversion::Versions,
        panic_text,
    },
};

/// Calls at once: more wait, as long as the API server does.
const AT_ONCE: usize = 64;

#[derive(Clone)]
pub(super) struct Calls {
    runtime: Handle,
    permits: Arc<Semaphore>,
}

/// There is no answer of the handler.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// Too many calls are in progress.
    Busy,
    /// It did not return in time. A blocking handler keeps its permit until it does.
    TimedOut(Duration),
    /// It returned an error.
    Error(String),
    /// It panicked.
    Panicked(String),
}

impl Calls {
    pub(super) fn on(runtime: Handle) -> Self {
        Self { runtime, permits: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(super) async fn admit(
        &self,
        webhook: &Webhook,
        request: AdmissionRequest,
        within: Duration,
    ) -> Result<Answered, Failed> {
        let until = Instant::now() + within;
        let permit = self.permit(until).await?;
        let call = match webhook.handler.clone().call(request) {
            Call::Blocking(call) => self.blocking(permit, call),
            Call::Async(call) => self.runtime.spawn(async move {
                let _permit = permit;
                AssertUnwindSafe(call).catch_unwind().await.map_err(panic_text)
            }),
        };
        returned(call, until, within).await
    }

    /// All objects, or the reason why one of them cannot be converted.
    pub(super) async fn convert(
        &self,
        versions: &Versions,
        Conversion { uid: _, desired, objects }: Conversion,
        within: Duration,
    ) -> Result<Vec<Value>, Failed> {
        let until = Instant::now() + within;
        let permit = self.permit(until).await?;
        let versions = versions.clone();
        let converted = move || {
            let all = objects.into_iter().map(|object| versions.convert(object, &desired));
            Ok(all.collect::<Result<Vec<_>, _>>()?)
        };
        returned(self.blocking(permit, Box::new(converted)), until, within).await
    }

    async fn permit(&self, until: Instant) -> Result<OwnedSemaphorePermit, Failed> {
        let permit = timeout_at(until, self.permits.clone().acquire_owned()).await;
        permit.ok().and_then(Result::ok).ok_or(Failed::Busy)
    }

    /// The permit is given back when the handler returns, also if nobody waits for it any more.
    fn blocking<T: Send + 'static>(
        &self,
        permit: OwnedSemaphorePermit,
        call: Box<dyn FnOnce() -> anyhow::Result<T> + Send>,
    ) -> JoinHandle<Result<anyhow::Result<T>, String>> {
        self.runtime.spawn_blocking(move || {
            let _permit = permit;
            catch_unwind(AssertUnwindSafe(call)).map_err(panic_text)
        })
    }
}

async fn returned<T>(
    mut call: JoinHandle<Result<anyhow::Result<T>, String>>,
    until: Instant,
    within: Duration,
) -> Result<T, Failed> {
    let Ok(joined) = timeout_at(until, &mut call).await else {
        call.abort();
        return Err(Failed::TimedOut(within));
    };
    match joined {
        Ok(Ok(Ok(returned))) => Ok(returned),
        Ok(Ok(Err(error))) => Err(Failed::Error(format!("{error:#}"))),
        Ok(Err(panic)) => Err(Failed::Panicked(panic)),
        Err(died) => Err(Failed::Panicked(died.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        object::{K8sType, ObjectKey},
        operator::admission::Admission,
    };

    fn webhook(act: &'static str) -> Webhook {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        Webhook::validate_type("test", ty, move |_: &AdmissionRequest| match act {
            "panic" => panic!("the kitchen burns"),
            "fail" => Err(anyhow::anyhow!("no oven").context("cannot cook")),
            _ => Ok(Admission::allow()),
        })
    }

    fn hanging() -> Webhook {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        Webhook::validate_type("test", ty, async |_: AdmissionRequest| {
            std::future::pending::<()>().await;
            Ok(Admission::allow())
        })
    }

    async fn admit(webhook: &Webhook) -> Result<bool, Failed> {
        let calls = Calls::on(Handle::current());
        let request = AdmissionRequest::create(ObjectKey::namespaced("ns", "a"), Value::Null);
        let answered = calls.admit(webhook, request, Duration::from_secs(30)).await;
        assert_eq!(calls.permits.available_permits(), AT_ONCE, "the permit is back");
        answered.map(|answered| answered.admission.is_allowed())
    }

    #[tokio::test]
    async fn an_error_and_a_panic_of_a_handler_are_values() {
        assert_eq!(admit(&webhook("allow")).await, Ok(true));
        assert_eq!(
            admit(&webhook("fail")).await,
            Err(Failed::Error("cannot cook: no oven".to_owned()))
        );
        let Err(Failed::Panicked(text)) = admit(&webhook("panic")).await else { panic!() };
        assert!(text.starts_with("the kitchen burns"), "{text}");
    }

    #[tokio::test]
    async fn a_handler_that_does_not_return_is_dropped_in_time() {
        let calls = Calls::on(Handle::current());
        let request = AdmissionRequest::create(ObjectKey::namespaced("ns", "a"), Value::Null);
        let within = Duration::from_millis(20);
        let answered = calls.admit(&hanging(), request, within).await;
        assert_eq!(answered.err(), Some(Failed::TimedOut(within)));
    }
}
