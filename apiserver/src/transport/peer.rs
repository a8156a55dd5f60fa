//! The other end of a connection: its certificates, and whether it is still there.
//!
//! actix notices a closed connection only when it writes, and an idle watch writes once a minute. The count
//! of open watches must not be that late, so that the socket is checked meanwhile.

use std::{any::Any, io, net::TcpStream, os::fd::AsFd, sync::Arc, time::Duration};

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::{dev::Extensions, rt::net::TcpStream as ActixTcpStream};
use rustls::pki_types::CertificateDer;

/// How often the socket is checked.
const INTERVAL: Duration = Duration::from_millis(250);

/// The socket of a connection, beside the one that actix reads and writes.
#[derive(Debug, Clone)]
pub(super) struct Peer(Arc<TcpStream>);

/// The certificates that a client came with, its own first.
pub(super) struct Chain(pub(super) Box<[CertificateDer<'static>]>);

impl Peer {
    /// Remembers the certificates and the socket of a new connection where its requests find it.
    pub(super) fn remember(connection: &dyn Any, data: &mut Extensions) {
        let Some(tls) = connection.downcast_ref::<TlsStream<ActixTcpStream>>() else { return };
        if let Some(chain) = tls.get_ref().1.peer_certificates() {
            data.insert(Chain(chain.iter().map(|it| it.clone().into_owned()).collect()));
        }
        // Without it, gone clients are noticed later: at the next bookmark.
        if let Ok(socket) = tls.get_ref().0.as_fd().try_clone_to_owned() {
            data.insert(Self(Arc::new(socket.into())));
        }
    }

    /// Returns when the other end has closed the connection.
    pub(super) async fn gone(self) {
        while !self.is_gone() {
            tokio::time::sleep(INTERVAL).await;
        }
    }

    fn is_gone(&self) -> bool {
        match self.0.peek(&mut [0]) {
            Ok(read) => read == 0,
            Err(error) => {
                !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
            }
        }
    }
}
