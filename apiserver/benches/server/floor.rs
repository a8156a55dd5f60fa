//! The floor of a list: the same bytes from memory, over the same TLS to the same client, without a server behind them.

use std::{sync::Arc, time::Instant};

use kube::Client;
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use crate::many::length_of;

/// How many bytes are sent at once, as by the embedded server.
const PIECE: usize = 64 * 1024;
/// How many bytes are sent.
const LENGTH: usize = 256 << 20;
/// How often; the best time counts.
const ROUNDS: usize = 3;

/// MB in a second.
pub(crate) async fn rate() -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let acceptor = acceptor();
        for _ in 0..ROUNDS {
            let (stream, _) = listener.accept().await.unwrap();
            send(&acceptor, stream).await;
        }
    });
    let mut config = kube::Config::new(format!("https://{address}").parse().unwrap());
    config.accept_invalid_certs = true;
    let mut best: f64 = 0.0;
    for _ in 0..ROUNDS {
        let reader = Client::try_from(config.clone()).unwrap();
        let begun = Instant::now();
        let length = length_of(&reader, "/").await;
        best = best.max(length as f64 / 1e6 / begun.elapsed().as_secs_f64());
    }
    serving.await.unwrap();
    best
}

fn acceptor() -> TlsAcceptor {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Answers one request.
async fn send(acceptor: &TlsAcceptor, stream: TcpStream) {
    let mut stream = acceptor.accept(stream).await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_buf(&mut request).await.unwrap();
    }
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let piece = vec![b'x'; PIECE];
    for _ in 0..LENGTH / PIECE {
        stream.write_all(&piece).await.unwrap();
    }
    stream.flush().await.unwrap();
}
