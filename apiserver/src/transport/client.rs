//! The other end of a connection, and whether it is still there.
//!
//! A client that has closed its side, by TLS or TCP, is gone: its watches end at once. Other answers are still sent, to
//! those who closed only the side of the requests. As in Go, whose server reads while it answers.
//!
//! ```text
//!  TLS ── read: end ──> gone ──> watches end
//!             └───── reported to HTTP/1.1 only when no request is in progress and all is sent
//! ```

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use futures::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The other end of a connection.
#[derive(Debug, Clone)]
pub(super) struct Client {
    gone: CancellationToken,
    requests: Arc<Requests>,
}

/// The requests in progress.
#[derive(Debug, Default)]
struct Requests {
    count: AtomicUsize,
    ended: AtomicWaker,
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(super) struct Request(Client);

/// The bytes of a connection, from which is seen whether the client is there.
#[derive(Debug)]
pub(super) struct Watched<S> {
    stream: S,
    client: Client,
    /// Whether the end of what is read is held back while requests are in progress.
    is_patient: bool,
    has_ended: bool,
    is_flushed: bool,
}

impl Client {
    /// A client that is there until the token is cancelled.
    pub(super) fn new(gone: CancellationToken) -> Self {
        Self { gone, requests: Arc::default() }
    }

    /// Begins a request.
    pub(super) fn request(&self) -> Request {
        self.requests.count.fetch_add(1, Ordering::AcqRel);
        Request(self.clone())
    }
}

impl Request {
    /// Cancelled when the client is gone.
    pub(super) fn gone(&self) -> &CancellationToken {
        &self.0.gone
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.requests.count.fetch_sub(1, Ordering::AcqRel);
        self.0.requests.ended.wake();
    }
}

impl<S> Watched<S> {
    /// For a protocol whose reader ends with the connection.
    pub(super) fn new(stream: S, client: Client) -> Self {
        Self { stream, client, is_patient: false, has_ended: false, is_flushed: true }
    }

    /// For a protocol that answers what was asked before the end.
    pub(super) fn patient(stream: S, client: Client) -> Self {
        Self { is_patient: true, ..Self::new(stream, client) }
    }

    /// The client sends nothing more.
    fn end(&mut self, cx: &Context<'_>) -> Poll<io::Result<()>> {
        self.has_ended = true;
        self.client.gone.cancel();
        let requests = &self.client.requests;
        requests.ended.register(cx.waker());
        let is_busy = requests.count.load(Ordering::Acquire) > 0 || !self.is_flushed;
        if self.is_patient && is_busy { Poll::Pending } else { Poll::Ready(Ok(())) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.has_ended {
            return self.end(cx);
        }
        let before = buffer.filled().len();
        match ready!(Pin::new(&mut self.stream).poll_read(cx, buffer)) {
            Ok(()) if buffer.filled().len() > before || buffer.remaining() == 0 => {
                Poll::Ready(Ok(()))
            }
            // It closed the connection of TCP without that of TLS.
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                self.client.gone.cancel();
                Poll::Ready(Err(error))
            }
            Ok(()) | Err(_) => self.end(cx),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.is_flushed = false;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.is_flushed = false;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        self.is_flushed = true;
        if self.has_ended {
            self.client.requests.ended.wake();
        }
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
