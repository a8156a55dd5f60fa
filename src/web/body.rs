//! Reading what a client sends: bounded in bytes and in time.

use std::time::Duration;

use actix_web::web::Payload;

use super::status::Refused;

/// How long a client may take to send a body that is read.
const DEADLINE: Duration = Duration::from_secs(10);

/// The body as text.
pub(super) async fn text(payload: Payload, limit: usize) -> Result<String, Refused> {
    let read = tokio::time::timeout(DEADLINE, payload.to_bytes_limited(limit));
    let bytes = read
        .await
        .map_err(|_| Refused::BodyTooSlow)?
        .map_err(|_| Refused::BodyTooLarge { limit: limit as u64 })?
        .map_err(|_| Refused::BadRequest("the body broke off".to_owned()))?;
    String::from_utf8(bytes.into())
        .map_err(|_| Refused::BadRequest("the body is not a text in UTF-8".to_owned()))
}
