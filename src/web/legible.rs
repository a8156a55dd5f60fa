//! Answers as people can read them: text of others that reverses the direction of what is beside
//! it is shown escaped, see [`object::legible`](crate::object::legible). In JSON that is the same
//! text for a program. What a route of the program's own answers is up to that.

use actix_web::{
    Error,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header,
    middleware::Next,
    web::Bytes,
};

use super::table::PATHS;
use crate::object::legible;

/// Of these types is what we answer with text of others; of metrics it is not: their format knows
/// no such escape, and programs read it. Events are made legible one by one.
const SHOWN: [&str; 4] = [
    "application/json",
    "application/yaml",
    "text/html; charset=utf-8",
    "text/plain; charset=utf-8",
];

/// Between who answers and all that is done with answers, as to compress them.
pub(super) async fn answers<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let is_ours = PATHS.find(request.method(), request.match_info().as_str()).is_some();
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
