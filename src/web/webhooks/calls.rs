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
mod tests;
