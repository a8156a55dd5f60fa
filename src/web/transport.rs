//! The path from a socket to the HTTP service, in clear text or over TLS. It combines the parts of
//! `actix_web::HttpServer`, and adds a slot for each connection and the counting of its frames, for
//! which that has no extension point.

use std::{future::ready, net::SocketAddr, time::Duration};

use actix_http::{HttpService, Protocol, Request};
use actix_server::GracefulShutdownSignal;
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, apply_fn_factory, fn_service,
    map_config,
};
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_web::{
    Error,
    body::MessageBody,
    dev::{AppConfig, ServiceResponse},
    rt::net::TcpStream,
};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    connection::{Connection, Slots},
    request_rules::Limits,
};

pub(super) type Accepted<T> = (Connection<T>, Protocol, Option<SocketAddr>);

/// How long a client has to close a connection that the server has ended.
const LINGER: Duration = Duration::from_secs(1);

/// Accepts connections in clear text.
pub(super) fn clear(
    slots: Slots,
) -> impl ServiceFactory<
    TcpStream,
    Config = (),
    Response = Accepted<TcpStream>,
    Error = (),
    InitError = (),
> {
    fn_service(move |stream: TcpStream| {
        send_at_once(&stream);
        let peer = stream.peer_addr().ok();
        let slot = slots.enter(&stream);
        let connection = slot.map(|slot| Connection::clear(stream, slot));
        ready(connection.map(|it| (it, Protocol::Http1, peer)).ok_or(()))
    })
}

/// Accepts connections over TLS. A connection takes its slot before the handshake.
pub(super) fn encrypted(
    mut config: ServerConfig,
    limits: Limits,
    slots: Slots,
) -> impl ServiceFactory<
    TcpStream,
    Config = (),
    Response = Accepted<TlsStream<TcpStream>>,
    Error = (),
    InitError = (),
> {
    config.alpn_protocols = ["h2", "http/1.1"].map(Vec::from).to_vec();
    let mut acceptor = Acceptor::new(config);
    acceptor.set_handshake_timeout(limits.head);
    let acceptor = acceptor.map_err(|_| ());
    apply_fn_factory(acceptor, move |stream: TcpStream, acceptor| {
        send_at_once(&stream);
        let peer = stream.peer_addr().ok();
        let accepting = slots.enter(&stream).map(|slot| (acceptor.call(stream), slot));
        async move {
            let (accepting, slot) = accepting.ok_or(())?;
            let connection = Connection::encrypted(accepting.await?, slot);
            let protocol = connection.protocol();
            Ok((connection, protocol, peer))
        }
    })
}

/// An answer of two frames would wait up to 40 ms for the acknowledgement of the first one.
fn send_at_once(stream: &TcpStream) {
    // It is slower without, and nothing else.
    let _ = stream.set_nodelay(true);
}

pub(super) fn http<T, A, F, B>(
    app: A,
    limits: Limits,
    stopping: GracefulShutdownSignal,
) -> impl ServiceFactory<Accepted<T>, Config = (), Response = (), Error = (), InitError = ()>
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
    A: IntoServiceFactory<F, Request>,
    F: ServiceFactory<
            Request,
            Config = AppConfig,
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    B: MessageBody + 'static,
{
    let app = app.into_factory().map_err(|error| error.error_response());
    HttpService::build()
        .keep_alive(limits.idle)
        .client_request_timeout(limits.head)
        .client_disconnect_timeout(LINGER)
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .on_connect_ext(|connection: &Connection<T>, of| connection.add_to(of))
        .finish(map_config(app, |()| AppConfig::default()))
        .map_err(|_| ())
}
