//! The errors of requests that the server in memory does not carry out or answer.

use std::time::Duration;

use super::faults::Refused;
use crate::{
    object::K8sType,
    reply::{ApiError, Cause, Refusal},
    run::Request,
};

/// The server refuses a request for these causes.
pub(super) fn refused(request: &Request, code: u16, causes: Vec<Cause>) -> ApiError {
    let message = format!("answered {code}");
    of(request, Refusal { message, causes, ..Refusal::answered(code) })
}

/// The validation of the type refuses an object for this cause.
pub(super) fn invalid(request: &Request, ty: &K8sType, cause: Cause) -> ApiError {
    let Cause { field, message, .. } = &cause;
    let message = format!("{} \"a\" is invalid: {field}: {message}", ty.kind());
    let refusal = Refusal { message, causes: vec![cause], ..Refusal::answered(422) };
    of(request, of_kind(ty.kind(), refusal))
}

/// The fault of a script.
pub(super) fn planned(request: &Request, fault: Refused) -> ApiError {
    let Refused { code, retry_after, field, message, from } = fault;
    let said = message.unwrap_or_else(|| format!("answered {code}"));
    let (kind, message) = match &*from.unwrap_or_default() {
        "webhook" => ("ConfigMap", format!("admission webhook \"w\" denied the request: {said}")),
        "policy" => {
            let policy = "ValidatingAdmissionPolicy 'p' with binding 'p' denied request";
            ("configmaps", format!("configmaps \"a\" is forbidden: {policy}: {said}"))
        }
        "quota" => ("configmaps", format!("configmaps \"a\" is forbidden: exceeded quota: {said}")),
        _ if field.is_some() => ("ConfigMap", format!("ConfigMap \"a\" is invalid: {said}")),
        _ => ("", said.clone()),
    };
    let cause = |field| Cause { message: said.clone(), field, ..Cause::default() };
    let causes = field.map(cause).into_iter().collect();
    let refusal = Refusal { message, retry_after, causes, ..Refusal::answered(code) };
    of(request, of_kind(kind, refusal))
}

fn of_kind(kind: &str, mut refusal: Refusal) -> Refusal {
    refusal.object.kind = kind.to_owned();
    refusal
}

/// The server does not serve the type.
pub(super) fn unserved(request: &Request) -> ApiError {
    of(request, Refusal { message: "page not found".to_owned(), code: 404, ..Refusal::default() })
}

/// The answer cannot be decoded.
pub(super) fn undecodable(request: &Request) -> ApiError {
    let why = "its metadata is no object".to_owned();
    ApiError::Malformed { request: format!("{request:?}"), why }
}

/// No answer arrives.
pub(super) fn lost(request: &Request) -> ApiError {
    ApiError::TimedOut { request: format!("{request:?}"), after: Duration::from_secs(30) }
}

fn of(request: &Request, refusal: Refusal) -> ApiError {
    ApiError::Refused { request: format!("{request:?}"), refusal: Box::new(refusal) }
}
