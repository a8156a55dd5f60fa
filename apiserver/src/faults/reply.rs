//! Faults of an answer that is read whole.

use std::fmt;

use bytes::Bytes;
use futures::stream;
use http::{Response, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use serde_json::Value;
use tower::BoxError;

use super::{Rewrite, Rule, Target};

/// The body of an answer that came through the layer.
pub type FaultyBody = UnsyncBoxBody<Bytes, BoxError>;

/// The connection broke, as far as the client can tell.
#[derive(Debug)]
pub(super) struct ConnectionLost;

impl fmt::Display for ConnectionLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection reset by peer (injected)")
    }
}

impl std::error::Error for ConnectionLost {}

/// What is sent instead of JSON.
pub(super) const GARBAGE: &[u8] = b"{\"kind\":\"\x00\xff garbage";

pub(super) fn full(bytes: impl Into<Bytes>) -> FaultyBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// The body whole; the head stays with it.
pub(super) async fn read<B>(response: Response<B>) -> Result<Response<Bytes>, BoxError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.map_err(Into::into)?.to_bytes();
    Ok(Response::from_parts(head, bytes))
}

/// Half of the answer, then a broken connection.
pub(super) fn cut(response: Response<Bytes>) -> Response<FaultyBody> {
    response.map(|bytes| {
        let half = Frame::data(bytes.slice(..bytes.len() / 2));
        let frames: [Result<_, BoxError>; 2] = [Ok(half), Err(ConnectionLost.into())];
        StreamBody::new(stream::iter(frames)).boxed_unsync()
    })
}

/// Another body of the same answer.
pub(super) fn replace(response: Response<Bytes>, body: impl Into<Bytes>) -> Response<FaultyBody> {
    let mut response = response.map(|_| full(body));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}

/// The answer with other objects: the one that it is, or those of the list that it is.
pub(super) fn rewrite(
    response: Response<Bytes>,
    rule: &Rule,
    target: &Target,
    rewrite: &Rewrite,
) -> Response<FaultyBody> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(response.body()) else {
        return response.map(full);
    };
    match answer["items"].as_array_mut().filter(|_| target.verb == "list") {
        Some(items) => {
            for item in items {
                if rule.is_about_object(&target.for_object(item)) {
                    rewrite(item);
                }
            }
        }
        None => rewrite(&mut answer),
    }
    replace(response, answer.to_string())
}
