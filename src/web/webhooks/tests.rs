//! Who is answered, over TLS.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
};

use actix_web::dev::ServerHandle;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::*;
use crate::{
    board::Board,
    metrics::Metrics,
    web::{Tls, listen},
};

/// A certificate with its key, in PEM.
type Pair = (String, String);

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn issue(&self, name: &str) -> Pair {
        let (params, key) =
            (CertificateParams::new(vec![name.to_owned()]).unwrap(), KeyPair::generate().unwrap());
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

type WithoutIdentity = rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;

/// A client that trusts this authority.
fn trusting(authority: &str) -> WithoutIdentity {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
}

/// The protocol that is chosen of those that a client offers.
fn negotiated(address: SocketAddr, authority: &str, offered: &[&str]) -> Option<String> {
    let mut config = trusting(authority).with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|&protocol| protocol.into()).collect();
    let name = "localhost".try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).ok()?;
    }
    connection.alpn_protocol().map(|protocol| String::from_utf8(protocol.to_vec()).unwrap())
}

/// The answer to a review of a client with this certificate; `None` if there is none.
fn asked(address: SocketAddr, authority: &str, own: Option<&Pair>) -> Option<String> {
    let config = trusting(authority);
    let config = match own {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let connection =
        ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    let asked = "POST /webhooks/other HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Content-Length: 2\r\nConnection: close\r\n\r\n{}";
    stream.write_all(asked.as_bytes()).ok()?;
    let mut answer = Vec::new();
    // The answer is complete also without a close notification.
    let _ = stream.read_to_end(&mut answer);
    Some(String::from_utf8(answer).unwrap()).filter(|answer| !answer.is_empty())
}

/// A server with a certificate of this authority.
fn serve(authority: &Authority, clients: Option<ClientAuthority>) -> (SocketAddr, ServerHandle) {
    let (certificate, key) = authority.issue("localhost");
    let certificates = Tls::from_pem(certificate, key).load().unwrap();
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let records = Records { board: Board::new(), metrics: Metrics::new() };
    let tls = WebhookTls { certificates, clients };
    let server =
        webhook_server(listener, Registered::default(), tls, records, Handle::current()).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    (address, handle)
}

#[actix_web::test]
async fn a_client_chooses_http_2_or_1() {
    let authority = Authority::new();
    let (address, handle) = serve(&authority, None);
    let asking = tokio::task::spawn_blocking(move || {
        let chosen = |offered: &[&str]| negotiated(address, &authority.0.pem(), offered);
        // As kube-apiserver offers them.
        assert_eq!(chosen(&["h2", "http/1.1"]).as_deref(), Some("h2"));
        assert_eq!(chosen(&["http/1.1"]).as_deref(), Some("http/1.1"));
        assert_eq!(chosen(&[]), None);
    });
    asking.await.unwrap();
    handle.stop(false).await;
}

#[actix_web::test]
async fn only_clients_of_the_authority_are_answered_where_one_is_named() {
    let (authority, other) = (Authority::new(), Authority::new());
    let clients = ClientAuthority::from_pem(authority.0.pem().as_bytes()).unwrap();
    let (address, handle) = serve(&authority, Some(clients));
    let asking = tokio::task::spawn_blocking(move || {
        let trusted = authority.0.pem();
        let answered = asked(address, &trusted, Some(&authority.issue("kube-apiserver"))).unwrap();
        assert!(answered.contains("/webhooks/other is no webhook of this process"), "{answered}");
        assert_eq!(asked(address, &trusted, None), None);
        assert_eq!(asked(address, &trusted, Some(&other.issue("kube-apiserver"))), None);
    });
    asking.await.unwrap();
    handle.stop(false).await;
}

#[test]
fn an_authority_of_clients_needs_a_certificate() {
    for text in ["", "no PEM"] {
        let error = ClientAuthority::from_pem(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "the authority of the clients contains no certificate in PEM");
    }
}
