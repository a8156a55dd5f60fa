//! Requests to the control plane from code that is not async, or is already inside a runtime.

use std::future::Future;

use crate::Error;

/// Runs a future to its end on its own runtime and thread, so that callers may be anywhere.
pub(crate) fn block_on<T: Send>(
    future: impl Future<Output = Result<T, Error>> + Send,
) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|source| Error::Io { what: "starting a runtime".into(), source })?
                .block_on(future)
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
