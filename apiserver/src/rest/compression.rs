//! Large answers are compressed for clients that accept it, as by the real server: piece by piece, while they are sent.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::{StreamExt, stream};
use http::{HeaderMap, HeaderValue, Response, header};

use super::Body;

/// The length from which answers are compressed.
pub(super) const THRESHOLD: usize = 128 * 1024;
/// How many bytes are compressed at once.
const PIECE: usize = 64 * 1024;

/// Says that it is decided whether an answer is compressed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decided;

/// Whether a client can read what is compressed.
pub(super) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|it| it.to_str().ok());
    accepted.is_some_and(|it| it.split(',').any(|coding| coding.trim() == "gzip"))
}

/// The same answer, compressed if it is large and the client can read that.
pub(super) fn compressed(headers: &HeaderMap, response: Response<Body>) -> Response<Body> {
    let is_large = match response.body() {
        Body::Full(bytes) => bytes.as_ref().is_some_and(|bytes| bytes.len() > THRESHOLD),
        Body::Pieces(..) => true,
        Body::Frames(_) => false,
    };
    let is_decided = response.extensions().get::<Decided>().is_some();
    if !is_large || is_decided || !accepts_gzip(headers) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    Response::from_parts(parts, gzip(body))
}

fn gzip(body: Body) -> Body {
    let body = match body {
        Body::Full(bytes) => Body::pieces(slices(bytes.unwrap_or_default()), None),
        other => other,
    };
    let Body::Pieces(pieces, _) = body else { return body };
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let compressed = stream::unfold(Some((pieces, encoder)), |state| async move {
        let (mut pieces, mut encoder) = state?;
        while let Some(piece) = pieces.next().await {
            encoder.write_all(&piece).ok()?;
            let compressed = std::mem::take(encoder.get_mut());
            if !compressed.is_empty() {
                return Some((compressed.into(), Some((pieces, encoder))));
            }
        }
        Some((encoder.finish().ok()?.into(), None))
    });
    Body::Pieces(compressed.boxed(), None)
}

fn slices(mut bytes: Bytes) -> impl Iterator<Item = Bytes> + Send + 'static {
    std::iter::from_fn(move || {
        let length = bytes.len().min(PIECE);
        (length > 0).then(|| bytes.split_to(length))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use http_body_util::BodyExt;

    use super::*;

    #[test]
    fn what_a_client_accepts_is_read_as_the_real_server_reads_it() {
        let of = |accepted: &'static str| {
            let accepted = HeaderValue::from_static(accepted);
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, accepted)]))
        };
        assert!(of("gzip") && of("deflate, gzip , br"));
        assert!(!of("") && !of("br") && !of("*") && !of("gzip;q=1"));
    }

    #[tokio::test]
    async fn a_large_body_is_compressed_and_a_small_one_is_not() {
        let accepting = HeaderValue::from_static("gzip");
        let accepting = HeaderMap::from_iter([(header::ACCEPT_ENCODING, accepting)]);
        for (length, is_compressed) in [(THRESHOLD, false), (THRESHOLD + 1, true)] {
            let text = "x".repeat(length);
            let answer = || Response::new(Body::full(text.clone()));
            assert!(compressed(&HeaderMap::new(), answer()).headers().is_empty());
            let response = compressed(&accepting, answer());
            assert_eq!(response.headers().contains_key(header::CONTENT_ENCODING), is_compressed);
            let sent = BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
            let mut read = String::new();
            if is_compressed {
                GzDecoder::new(&sent[..]).read_to_string(&mut read).unwrap();
            } else {
                read.push_str(std::str::from_utf8(&sent).unwrap());
            }
            assert_eq!(read, text);
        }
    }
}
