//! One connection: TLS, then HTTP/1.1 or HTTP/2, with the limits of the real server.

use std::{pin::pin, sync::Arc, time::Duration};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{Answering, Chain},
    client::{Client, Watched},
};
use crate::credentials::HTTP_2;

/// How long TLS may take to begin.
const HANDSHAKE: Duration = Duration::from_secs(32);
/// How long a connection may be silent between requests, and how long the head of a request may take.
const SILENCE: Duration = Duration::from_secs(90);
/// How long the head of a request may be.
const HEAD: u32 = 1 << 20;
/// How many headers it may have. The real server has no such limit, but a place for each is made for each request.
const HEADERS: usize = 1024;
/// How many requests of one connection are answered at a time.
const STREAMS: u32 = 250;
/// How many bytes of a body are sent before they are read.
const STREAM_WINDOW: u32 = 256 * 1024;
/// How many bytes of all bodies of a connection are sent before they are read.
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Serves connections.
pub(super) struct Protocols {
    acceptor: TlsAcceptor,
    answering: Arc<Answering>,
    http_1: Builder<TokioExecutor>,
    http_2: Builder<TokioExecutor>,
}

impl Protocols {
    pub(super) fn new(acceptor: TlsAcceptor, answering: Answering) -> Self {
        let mut http_1 = Builder::new(TokioExecutor::new()).http1_only();
        let mut http = http_1.http1();
        http.timer(TokioTimer::new()).header_read_timeout(SILENCE);
        http.max_headers(HEADERS).max_buf_size(HEAD as usize);
        let mut http_2 = Builder::new(TokioExecutor::new()).http2_only();
        let mut http = http_2.http2();
        http.timer(TokioTimer::new()).max_header_list_size(HEAD);
        http.max_concurrent_streams(STREAMS);
        http.initial_stream_window_size(STREAM_WINDOW);
        http.initial_connection_window_size(CONNECTION_WINDOW);
        Self { acceptor, answering: Arc::new(answering), http_1, http_2 }
    }

    /// Serves a connection to its end, or until the server stops: then open watches end, and what is being answered is
    /// not.
    pub(super) async fn serve(&self, stream: TcpStream, stopping: CancellationToken) {
        // Without it, answers are only later.
        let _ = stream.set_nodelay(true);
        let begun = tokio::time::timeout(HANDSHAKE, self.acceptor.accept(stream));
        let Some(Ok(Ok(tls))) = stopping.run_until_cancelled(begun).await else { return };
        let is_http_2 = tls.get_ref().1.alpn_protocol() == Some(HTTP_2);
        let client = Client::new(stopping.child_token());
        let chain = certificates(&tls);
        let answering = Arc::clone(&self.answering);
        let service = service_fn(|request| {
            Arc::clone(&answering).answer(request, Arc::clone(&chain), client.request())
        });
        let (http, io) = if is_http_2 {
            (&self.http_2, Watched::new(tls, client.clone()))
        } else {
            (&self.http_1, Watched::patient(tls, client.clone()))
        };
        let mut served = pin!(http.serve_connection(TokioIo::new(io), service));
        let stopped = stopping.cancelled();
        // However it ends, it has ended.
        tokio::select! {
            _ = served.as_mut() => return,
            () = stopped => {}
        }
        served.as_mut().graceful_shutdown();
        let _ = served.await;
    }
}

/// The certificates that a client came with, its own first.
fn certificates(tls: &TlsStream<TcpStream>) -> Chain {
    let chain = tls.get_ref().1.peer_certificates().unwrap_or_default();
    chain.iter().map(|it| it.clone().into_owned()).collect()
}
