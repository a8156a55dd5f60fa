//! From a socket to what is said on it, in clear text or over TLS, and from that to answers. The
//! parts are those of which `actix_web::HttpServer` is made, with a place for each connection
//! before them and a look at its frames between them, for which that has no room.

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
    connection::{Conversation, Slots},
    gate::Limits,
};

/// A connection with its protocol and who is at the other end.
pub(super) type Accepted<T> = (Conversation<T>, Protocol, Option<SocketAddr>);

/// A client that does not end a connection has so long until it is ended for it.
const FAREWELL: Duration = Duration::from_secs(1);

/// In clear text.
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
        let peer = stream.peer_addr().ok();
        let slot = slots.enter(&stream);
        let conversation = slot.map(|slot| Conversation::clear(stream, slot));
        ready(conversation.map(|it| (it, Protocol::Http1, peer)).ok_or(()))
    })
}

/// Over TLS. Its place is taken before that is agreed upon.
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
        let peer = stream.peer_addr().ok();
        let accepting = slots.enter(&stream).map(|slot| (acceptor.call(stream), slot));
        async move {
            let (accepting, slot) = accepting.ok_or(())?;
            let conversation = Conversation::encrypted(accepting.await?, slot);
            let protocol = conversation.protocol();
            Ok((conversation, protocol, peer))
        }
    })
}

/// What is answered.
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
        .client_disconnect_timeout(FAREWELL)
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .on_connect_ext(|conversation: &Conversation<T>, of| conversation.introduce(of))
        .finish(map_config(app, |()| AppConfig::default()))
        .map_err(|_| ())
}
