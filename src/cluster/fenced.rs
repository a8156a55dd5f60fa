//! The connections for writes while leaders are elected. They send nothing while the fence is closed.
//!
//! The check before a request is sent is not enough: the process may be stopped between that check and the
//! socket, and the operating system may hold bytes for a server that cannot be reached. So each write to a
//! socket is checked too, and a connection is reset when the fence closes.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection, HttpConnector},
    rt::TokioIo,
};
use tokio::net::TcpStream;
use tower::Service;

use super::{boot_clock::election_now, closing::closed};
use crate::election::Fence;

/// Opens fenced connections.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    tcp: HttpConnector,
    fence: Fence,
}

/// A connection.
pub(super) struct Fenced {
    io: TokioIo<TcpStream>,
    fence: Fence,
    /// Ends when the fence closes.
    closes: Option<BoxFuture<'static, ()>>,
    is_reset: bool,
}

impl Connector {
    pub(super) fn new(mut tcp: HttpConnector, fence: &Fence) -> Self {
        tcp.set_nodelay(true);
        Self { tcp, fence: fence.clone() }
    }
}

impl Service<Uri> for Connector {
    type Response = Fenced;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = BoxFuture<'static, Result<Fenced, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::poll_ready(&mut self.tcp, context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (mut tcp, fence) = (self.tcp.clone(), self.fence.clone());
        Box::pin(async move {
            poll_fn(|context| Service::poll_ready(&mut tcp, context)).await?;
            let io = Service::call(&mut tcp, uri).await?;
            Ok(Fenced { io, fence, closes: None, is_reset: false })
        })
    }
}

impl Fenced {
    fn check(&mut self) -> io::Result<()> {
        if self.fence.is_open(election_now().boot) {
            let fence = &self.fence;
            self.closes.get_or_insert_with(|| Box::pin(closed(fence.clone())));
            return Ok(());
        }
        // What the operating system holds is dropped with the connection.
        self.is_reset = self.io.inner().set_zero_linger().is_ok();
        let why = "this process is not the leader: the connection is reset";
        Err(io::Error::new(io::ErrorKind::ConnectionAborted, why))
    }

    /// Before bytes are written. Wakes the connection when the fence closes, also while it awaits an answer.
    fn check_write(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        self.check()?;
        match self.poll_closed(context) {
            Poll::Ready(error) => Err(error),
            Poll::Pending => Ok(()),
        }
    }

    /// Ends the connection when the fence has closed.
    fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        while let Some(closes) = &mut self.closes {
            ready!(closes.as_mut().poll(context));
            self.closes = None;
            if let Err(error) = self.check() {
                return Poll::Ready(error);
            }
        }
        Poll::Pending
    }
}

impl Read for Fenced {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(error) = self.poll_closed(context) {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Fenced {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_write(context)?;
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // An orderly end would send what the operating system holds.
        if self.is_reset {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_write(context)?;
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }
}

impl Connection for Fenced {
    fn connected(&self) -> Connected {
        self.io.connected()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::Request;
    use kube::{Client, Config};
    use tokio::{
        io::AsyncReadExt,
        net::{TcpListener, TcpStream},
    };

    use super::{super::clients::fenced, *};

    /// A client of a server that accepts and does not answer.
    async fn silent_server(fence: &Fence) -> (Client, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let client = fenced(&Config::new(uri), fence).unwrap();
        (client, listener)
    }

    async fn write(client: &Client) -> kube::Result<String> {
        client.request_text(Request::patch("/api/v1").body(b"{}".to_vec()).unwrap()).await
    }

    /// All that the other end sent, until it closed or reset the connection.
    async fn received(mut stream: TcpStream) -> (Vec<u8>, io::Result<usize>) {
        let mut bytes = Vec::new();
        let end = stream.read_to_end(&mut bytes).await;
        (bytes, end)
    }

    #[tokio::test]
    async fn no_byte_is_sent_while_the_fence_is_closed() {
        let fence = Fence::default();
        let (client, listener) = silent_server(&fence).await;
        let accepted =
            tokio::spawn(async move { received(listener.accept().await.unwrap().0).await });
        let error = write(&client).await.unwrap_err();
        drop(client);
        let (bytes, _) = accepted.await.unwrap();
        assert!(bytes.is_empty(), "{:?}", String::from_utf8_lossy(&bytes));
        assert!(format!("{error:?}").contains("not the leader"), "{error:?}");
    }

    #[tokio::test]
    async fn a_connection_is_reset_when_the_fence_closes_before_the_answer() {
        let fence = Fence::default();
        fence.set(Some(election_now().boot.plus(Duration::from_hours(1))));
        let (client, listener) = silent_server(&fence).await;
        let writing = tokio::spawn(async move { write(&client).await });
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut begin = [0; 24];
        stream.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"PATCH /api/v1 HTTP/1.1\r\n", "it was open at first");
        fence.set(Some(election_now().boot.plus(Duration::from_millis(100))));
        let error = writing.await.unwrap().unwrap_err();
        assert!(format!("{error:?}").contains("not the leader"), "{error:?}");
        let (_, end) = received(stream).await;
        assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_connection_is_reset_at_once_when_the_fence_is_closed_early() {
        let fence = Fence::default();
        fence.set(Some(election_now().boot.plus(Duration::from_hours(1))));
        let (client, listener) = silent_server(&fence).await;
        let writing = tokio::spawn(async move { write(&client).await });
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        fence.seal();
        let error = writing.await.unwrap().unwrap_err();
        assert!(format!("{error:?}").contains("not the leader"), "{error:?}");
        let (_, end) = received(stream).await;
        assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_connection_stays_when_the_fence_is_moved() {
        let fence = Fence::default();
        fence.set(Some(election_now().boot.plus(Duration::from_millis(100))));
        let (client, listener) = silent_server(&fence).await;
        let writing = tokio::spawn(async move { write(&client).await });
        let (mut stream, _) = listener.accept().await.unwrap();
        fence.set(Some(election_now().boot.plus(Duration::from_mins(1))));
        let passed = election_now().boot.plus(Duration::from_millis(200));
        while election_now().boot < passed {
            tokio::time::sleep(passed.from(election_now().boot)).await;
        }
        tokio::io::AsyncWriteExt::write_all(
            &mut stream,
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
        )
        .await
        .unwrap();
        assert_eq!(writing.await.unwrap().unwrap(), "ok");
    }
}
