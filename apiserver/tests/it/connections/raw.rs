//! Connections over TLS whose ends a test decides.

use std::{sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{Request, header};
use http_body_util::Empty;
use hyper::{body::Bytes, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::config::Kubeconfig;
use operetta_apiserver::{Running, Server};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// How long something may take that is to happen at once.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) type Sender = http2::SendRequest<Empty<Bytes>>;

/// A server that listens.
pub(super) struct Listening {
    pub(super) server: Server,
    pub(super) running: Running,
    token: String,
    authority: Vec<u8>,
}

impl Listening {
    pub(super) fn start() -> Self {
        let server = Server::start();
        let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let config: serde_json::Value = serde_yaml_ng::from_str(running.kubeconfig()).unwrap();
        let authority = config["clusters"][0]["cluster"]["certificate-authority-data"].as_str();
        let authority = BASE64_STANDARD.decode(authority.unwrap()).unwrap();
        let token = config["users"][0]["user"]["token"].as_str().unwrap().to_owned();
        assert!(Kubeconfig::from_yaml(running.kubeconfig()).is_ok());
        Self { server, running, token, authority }
    }

    pub(super) async fn connect(&self, protocol: &str) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&self.authority).unwrap()).unwrap();
        let mut config = ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.running.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let tls = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        assert_eq!(tls.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
        tls
    }

    /// Sends the head of a GET over HTTP/1.1.
    pub(super) async fn get(&self, target: &str, headers: &str) -> TlsStream<TcpStream> {
        let mut stream = self.connect("http/1.1").await;
        let token = &self.token;
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    /// A connection of HTTP/2, and its end.
    pub(super) async fn http_2(&self) -> (Sender, JoinHandle<()>) {
        http_2_over(self.connect("h2").await).await
    }

    pub(super) fn request(&self, target: &str) -> Request<Empty<Bytes>> {
        let request = Request::get(format!("https://localhost{target}"));
        let request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        request.body(Empty::new()).unwrap()
    }

    /// Waits until so many watches are open.
    pub(super) async fn watches(&self, count: usize) {
        let reached = async {
            while self.server.open_watches().len() != count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        at_once(reached).await;
    }
}

/// A connection of HTTP/2 over TLS, and its end.
pub(super) async fn http_2_over(stream: TlsStream<TcpStream>) -> (Sender, JoinHandle<()>) {
    let http = http2::Builder::new(TokioExecutor::new());
    let (sender, connection) = http.handshake(TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(async move { drop(connection.await) }))
}

/// Reads up to an end of a line of the body, or of the head.
pub(super) async fn read_until(stream: &mut TlsStream<TcpStream>, end: &str) -> String {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        read.push(at_once(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

/// Reads what is left, to the end of the connection.
pub(super) async fn rest(stream: &mut TlsStream<TcpStream>) -> String {
    let mut read = Vec::new();
    // The server may close TCP without TLS.
    let _ = at_once(stream.read_to_end(&mut read)).await;
    String::from_utf8_lossy(&read).into_owned()
}

/// Fails instead of waiting forever.
pub(super) async fn at_once<T>(happens: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, happens).await.expect("it happens at once")
}
