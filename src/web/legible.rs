//! Escapes characters in answers that change the direction of text, see
//! [`object::legible`](crate::object::legible). For programs the JSON has the same meaning. The
//! program's own routes are excluded.

use actix_web::{
    Error,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header,
    middleware::Next,
    web::{Bytes, Data},
};

use super::paths::Paths;
use crate::object::legible;

/// The types of answers that are escaped. The format of metrics has no such escape. Events are escaped
/// one by one.
const SHOWN: [&str; 4] = [
    "application/json",
    "application/yaml",
    "text/html; charset=utf-8",
    "text/plain; charset=utf-8",
];

/// A middleware between the handlers and the other middleware, such as compression.
pub(super) async fn answers<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let paths = request.app_data::<Data<Paths>>();
    let is_ours = paths
        .is_some_and(|paths| paths.find(request.method(), request.match_info().as_str()).is_some());
    let response = next.call(request).await?;
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_shown = content_type.is_some_and(|shown| SHOWN.iter().any(|one| *shown == *one));
    Ok(response.map_body(|_, body| match body.try_into_bytes() {
        Ok(bytes) if is_ours && is_shown => BoxBody::new(escaped(bytes)),
        Ok(bytes) => BoxBody::new(bytes),
        Err(body) => body.boxed(),
    }))
}

fn escaped(bytes: Bytes) -> Bytes {
    match std::str::from_utf8(&bytes).map(legible) {
        Ok(std::borrow::Cow::Owned(shown)) => shown.into(),
        Ok(std::borrow::Cow::Borrowed(_)) | Err(_) => bytes,
    }
}
