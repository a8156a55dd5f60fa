//! Clients of the endpoint over TLS.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use rcgen::{CertificateParams, KeyPair};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
    version::{TLS12, TLS13},
};

use super::world::World;
use crate::web::{Protection, Tls, listen, request_rules::Limits, server, server::limited};

pub(super) fn pair() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "ops.example".to_owned()];
    let params = CertificateParams::new(names).unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// A connection with this version of TLS, if the server has this certificate.
fn connect(
    address: SocketAddr,
    trusted: &str,
    version: &'static SupportedProtocolVersion,
) -> Option<StreamOwned<ClientConnection, TcpStream>> {
    connect_for(address, trusted, version, &[])
}

/// The same, with these protocols.
pub(super) fn connect_for(
    address: SocketAddr,
    trusted: &str,
    version: &'static SupportedProtocolVersion,
    protocols: &[&str],
) -> Option<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|&protocol| protocol.into()).collect();
    let name = "localhost".try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).ok()?;
    }
    Some(StreamOwned::new(connection, socket))
}

/// The answer to a GET over it.
fn get(
    address: SocketAddr,
    trusted: &str,
    version: &'static SupportedProtocolVersion,
) -> Option<String> {
    let mut stream = connect(address, trusted, version)?;
    let asked = format!("GET /livez HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // The answer is complete also without a close notification.
    let _ = stream.read_to_end(&mut answer);
    Some(String::from_utf8(answer).unwrap())
}

#[actix_web::test]
async fn the_endpoint_is_served_over_tls_and_not_in_clear_text() {
    let (certificate, key) = pair();
    let certificates = Some(Tls::from_pem(certificate.clone(), key).load().unwrap());
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let protection = Protection { certificates, ..Protection::default() };
    let server = server(listener, World::running().state, protection).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    let asked = tokio::task::spawn_blocking(move || {
        for version in [&TLS12, &TLS13] {
            let answer = get(address, &certificate, version).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
            assert!(answer.contains("strict-transport-security: max-age="), "{answer}");
        }
        let (other, _) = pair();
        assert!(get(address, &other, &TLS13).is_none(), "another certificate is not trusted");
        let mut clear = TcpStream::connect(address).unwrap();
        let asked = format!("GET /livez HTTP/1.1\r\nHost: {address}\r\n\r\n");
        // The server may close the connection before all is sent.
        let _ = clear.write_all(asked.as_bytes());
        let mut answer = Vec::new();
        let _ = clear.read_to_end(&mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
    });
    asked.await.unwrap();
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_replaced_certificate_is_loaded_without_a_request() {
    let folder = operetta_harness::Folder::new();
    let (certificate_file, key_file) = (folder.join("tls.crt"), folder.join("tls.key"));
    let put = |(certificate, key): &(String, String)| {
        fs::write(&key_file, key).unwrap();
        fs::write(&certificate_file, certificate).unwrap();
    };
    let (first, second) = (pair(), pair());
    put(&first);
    let tls = Tls::from_files(&certificate_file, &key_file).check_every(Duration::from_millis(10));
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let protection =
        Protection { certificates: Some(tls.load().unwrap()), ..Protection::default() };
    let server = server(listener, World::running().state, protection).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    let shows = async |certificate: &str| {
        let certificate = certificate.to_owned();
        let asked = tokio::task::spawn_blocking(move || get(address, &certificate, &TLS13));
        asked.await.unwrap().is_some()
    };
    assert!(shows(&first.0).await && !shows(&second.0).await);
    put(&second);
    let deadline = Instant::now() + Duration::from_mins(1);
    while !shows(&second.0).await {
        assert!(Instant::now() < deadline, "the new certificate is not in use");
    }
    assert!(!shows(&first.0).await);
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_connection_with_an_incomplete_request_ends_over_tls_too() {
    let (certificate, key) = pair();
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let certificates = Some(Tls::from_pem(certificate.clone(), key).load().unwrap());
    let protection = Protection { certificates, ..Protection::default() };
    let (head, idle) = (Duration::from_secs(1), Duration::from_secs(2));
    let limits = Limits { head, idle, ..Limits::default() };
    let server = limited(listener, World::running().state, protection, limits).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    let asked = tokio::task::spawn_blocking(move || {
        let mut stream = connect(address, &certificate, &TLS13).unwrap();
        stream.sock.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let live = format!("GET /livez HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(live.as_bytes()).unwrap();
        let (mut answer, mut byte) = (Vec::new(), [0]);
        while !answer.ends_with(b"\r\n\r\nok") {
            stream.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        // The connection may have been idle for too long before.
        let _ = stream.write_all(b"GET /livez HTTP/1.1\r\nX-Slow: ");
        let end = stream.read_to_end(&mut answer).map_err(|error| error.kind());
        // A reset, or an end without a close notification.
        assert!(!matches!(end, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)), "{end:?}");
    });
    asked.await.unwrap();
    handle.stop(false).await;
}
