//! The errors of requests that the server in memory does not carry out or answer.

use std::time::Duration;

use super::faults::Refused;
use crate::{
    reply::{ApiError, Cause, Refusal},
    run::Request,
};

/// The server refuses a request for these causes.
pub(super) fn refused(request: &Request, code: u16, causes: Vec<Cause>) -> ApiError {
    let (reason, message) = (String::new(), format!("answered {code}"));
    let (retry_after, names_object) = (None, true);
    of(request, Refusal { code, reason, message, retry_after, causes, names_object })
}

/// The fault of a script.
pub(super) fn planned(request: &Request, fault: Refused) -> ApiError {
    let Refused { code, retry_after, field, message } = fault;
    let cause = |field| {
        let message = message.clone().unwrap_or_default();
        Cause { message, field, ..Cause::default() }
    };
    let causes = field.map(cause).into_iter().collect();
    let message = message.unwrap_or_else(|| format!("answered {code}"));
    let (reason, names_object) = (String::new(), true);
    of(request, Refusal { code, reason, message, retry_after, causes, names_object })
}

/// The server does not serve the type.
pub(super) fn unserved(request: &Request) -> ApiError {
    let (code, reason, message) = (404, String::new(), "page not found".to_owned());
    let (retry_after, causes, names_object) = (None, Vec::new(), false);
    of(request, Refusal { code, reason, message, retry_after, causes, names_object })
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
