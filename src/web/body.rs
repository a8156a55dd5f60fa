//! The body of a request is read whole before anybody looks at it, within limits of size and time.
//!
//! No route takes more than a few fields, so that a body fits in memory; and a client that sends
//! it slowly, or without an end, holds nobody but itself.

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

/// Replaces the body by one that is there; how large the client says it is does not count. What
/// is refused stays where it was.
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
        .map_err(|_| Refused::BadRequest("the body is not a text in UTF-8".to_owned()))
}

/// The body of an answer to a request that was not read to its end. The server closes such a
/// connection only while somebody holds the rest; else it waits for all of it, however slow.
pub(super) fn with_unread(body: BoxBody, unread: Payload) -> BoxBody {
    holding(body, unread)
}

/// What a body holds until all of it was handed on, or nobody wants it any more.
pub(super) trait Held: Unpin + 'static {
    /// More of the body is wanted.
    fn wanted(&self) {}
}

impl Held for Payload {}

/// A body that holds something.
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
