//! The body of a response: bytes, pieces that are made while they are sent, or the frames of a watch as they come.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use http_body::{Frame, SizeHint};

use crate::deep;

/// The body of a response.
pub enum Body {
    /// All of it; taken when sent.
    Full(Option<Bytes>),
    /// Pieces of it, and how many bytes they have together if that is known.
    Pieces(BoxStream<'static, Bytes>, Option<u64>),
    /// Watch frames.
    Frames(BoxStream<'static, Bytes>),
}

impl Body {
    /// A body of known bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::Full(Some(bytes.into()))
    }

    /// A body of pieces, each of which is made when it is sent. Others have their turn after each of them.
    pub(super) fn pieces(
        pieces: impl Iterator<Item = Bytes> + Send + 'static,
        length: Option<u64>,
    ) -> Self {
        let pieces = stream::unfold(pieces, |mut pieces| async move {
            tokio::task::yield_now().await;
            deep::turn(|| pieces.next()).map(|piece| (piece, pieces))
        });
        Self::Pieces(pieces.boxed(), length)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(bytes) => f.debug_tuple("Full").field(bytes).finish(),
            Self::Pieces(_, length) => f.debug_tuple("Pieces").field(length).finish(),
            Self::Frames(_) => f.write_str("Frames"),
        }
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut *self {
            Self::Full(bytes) => Poll::Ready(bytes.take().map(Ok)),
            Self::Pieces(frames, _) | Self::Frames(frames) => {
                frames.poll_next_unpin(cx).map(|frame| frame.map(Ok))
            }
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.poll_next(cx).map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Self::Pieces(_, Some(length)) => SizeHint::with_exact(*length),
            Self::Pieces(_, None) | Self::Frames(_) => SizeHint::default(),
        }
    }
}
