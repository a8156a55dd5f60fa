//! `echo-server`: an `EchoServer` is a Pod that responds to HTTP requests, and its Service.
//!
//! The smallest useful operator: two functions without state, of which the second reports the
//! errors of the first. The environment of a Pod is immutable, so the Pod is recreated when the
//! service name changes; the Service is changed in place.

use k8s_openapi::api::core::v1::{Pod, Service};
use operetta::operator::{
    AnyHandler, AnyOperator, ChildConfig, ErrorResponse, IntoHandler, OperatorConfig, SyncRequest,
    SyncResponse,
};

mod children;
mod crd;
mod status;

pub use crd::{EchoServer, EchoServerSpec, EchoServerStatus};

/// The operator as the binary registers it.
pub fn operator() -> AnyOperator {
    AnyOperator::new(config(), handler())
}

/// Its code.
pub fn handler() -> AnyHandler {
    (sync, on_error).into_handler()
}

/// Its name and types.
pub fn config() -> OperatorConfig {
    OperatorConfig::custom::<EchoServer>("echo-server")
        .child::<Pod>(ChildConfig::recreate())
        .child::<Service>(ChildConfig::apply())
}

/// The desired Pod and Service, and the status from the observed ones.
///
/// # Errors
/// The parent or a child does not fit its Rust type.
pub fn sync(request: &SyncRequest<EchoServer>) -> anyhow::Result<SyncResponse<EchoServerStatus>> {
    let (parent, name) = (&request.parent, request.object().name());
    let pod = request.child::<Pod>(name)?;
    let service = request.child::<Service>(name)?;
    Ok(SyncResponse::status(status::status(pod, service))
        .child(children::pod(parent))
        .child(children::service(parent)))
}

/// The phase `Error` and why. The address stays, as the children do.
pub fn on_error(request: &SyncRequest<EchoServer>, error: &anyhow::Error) -> ErrorResponse {
    // A Service that cannot be parsed may be what failed.
    let service = request.child::<Service>(request.object().name()).ok().flatten();
    ErrorResponse::status(status::failed(error, service))
}

#[cfg(test)]
mod tests;
