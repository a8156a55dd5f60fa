//! Reads the whole body of a request before it is handled, within limits of size and time.
//!
//! No route needs more than a few fields, so a body fits in memory. A client that sends it slowly or
//! without an end blocks only itself.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::{
    HttpMessage,
    body::{BodySize, BoxBody, MessageBody},
    dev::{Payload, ServiceRequest},
    error::PayloadError,
    http::header,
    web::{self, Bytes, BytesMut},
};
use futures::{Stream, StreamExt, stream};

use super::status::Refused;

/// No route needs more.
pub(super) const MAX_BODY: usize = 64 << 10;

/// Reads the body and puts it back, whatever its announced size. A refused body is left in the
/// request.
pub(super) async fn read(request: &mut ServiceRequest, within: Duration) -> Result<(), Refused> {
    if announced(request).is_some_and(|size| size > MAX_BODY as u64) {
        return Err(Refused::BodyTooLarge { limit: MAX_BODY });
    }
    let mut payload = request.take_payload();
    let read = match payload {
        Payload::None => return Ok(()),
        ref mut payload => tokio::time::timeout(within, collect(payload)).await,
    };
    match read.unwrap_or(Err(Refused::BodyTooSlow)) {
        Ok(body) => {
            let whole: BodyStream = Box::pin(stream::once(async { Ok(body) }));
            request.set_payload(Payload::Stream { payload: whole });
            Ok(())
        }
        Err(refused) => {
            request.set_payload(payload);
            Err(refused)
        }
    }
}

/// A body that was read, as text.
pub(super) async fn text(body: web::Payload, limit: usize) -> Result<String, Refused> {
    let bytes = body.to_bytes_limited(limit).await;
    let bytes =
        bytes.map_err(|_| Refused::BodyTooLarge { limit })?.map_err(|_| Refused::BodyBroken)?;
    String::from_utf8(bytes.into())
        .map_err(|_| Refused::BadRequest("the body is not valid UTF-8".to_owned()))
}

/// A value that a body holds until it is sent or dropped.
pub(super) trait Held: Unpin + 'static {
    /// The client requests more of the body.
    fn wanted(&self) {}
}

impl Held for Payload {}

pub(super) fn holding(body: BoxBody, held: impl Held) -> BoxBody {
    BoxBody::new(Holding { body, held })
}

struct Holding<T> {
    body: BoxBody,
    held: T,
}

impl<T: Held> MessageBody for Holding<T> {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { body, held } = self.get_mut();
        held.wanted();
        Pin::new(body).poll_next(context)
    }
}

type BodyStream = Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>>;

fn announced(request: &ServiceRequest) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn collect(payload: &mut Payload) -> Result<Bytes, Refused> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| Refused::BodyBroken)?;
        if chunk.len() > MAX_BODY - body.len() {
            return Err(Refused::BodyTooLarge { limit: MAX_BODY });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}
