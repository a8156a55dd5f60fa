//! The stream of a connection. It holds a slot, and it ends when an HTTP/2 client floods it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use actix_http::Protocol;
use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::{dev::Extensions, rt::net::TcpStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{frames::Frames, traffic::Slot};

const HTTP_2: &[u8] = b"h2";

#[derive(Debug)]
pub(in crate::web) struct Connection<T> {
    stream: T,
    slot: Slot,
    frames: Option<Frames>,
}

impl Connection<TcpStream> {
    /// A connection in clear text, without HTTP/2.
    pub(in crate::web) fn clear(stream: TcpStream, slot: Slot) -> Self {
        Self { stream, slot, frames: None }
    }
}

impl Connection<TlsStream<TcpStream>> {
    /// A connection over TLS, with the negotiated protocol.
    pub(in crate::web) fn encrypted(stream: TlsStream<TcpStream>, slot: Slot) -> Self {
        let is_http_2 = stream.get_ref().1.alpn_protocol() == Some(HTTP_2);
        let frames = is_http_2.then(|| Frames::new(Instant::now()));
        Self { stream, slot, frames }
    }
}

impl<T> Connection<T> {
    pub(in crate::web) fn protocol(&self) -> Protocol {
        if self.frames.is_some() { Protocol::Http2 } else { Protocol::Http1 }
    }

    /// Adds the connection to the data of its requests.
    pub(in crate::web) fn add_to(&self, data: &mut Extensions) {
        data.insert(self.slot.traffic.clone());
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Connection<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, frames, .. } = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(stream).poll_read(context, buffer);
        if let (Some(frames), Poll::Ready(Ok(()))) = (frames, &read)
            && let Err(flood) = frames.read(&buffer.filled()[before..], Instant::now())
        {
            tracing::debug!(%flood, "closed a connection");
            return Poll::Ready(Err(io::Error::other(flood)));
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Connection<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
