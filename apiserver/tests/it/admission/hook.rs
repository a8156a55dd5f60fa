//! A webhook server on loopback, with a certificate that it makes, and a record of its calls.

use std::sync::{Arc, Mutex};

use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// Answers a call of a path: code, media type and body. No answer at all is `None`.
pub(crate) type Answer = fn(path: &str, body: &Value) -> Option<(u16, &'static str, String)>;

/// A running webhook server.
pub(crate) struct Hook {
    pub(crate) port: u16,
    /// The bundle that trusts it, as configurations have it.
    pub(crate) bundle: String,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Hook {
    pub(crate) async fn start(answer: Answer) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let calls: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let record = Arc::clone(&calls);
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (acceptor, record) = (acceptor.clone(), Arc::clone(&record));
                tokio::spawn(async move {
                    if let Ok(tls) = acceptor.accept(tcp).await {
                        serve(tls, answer, &record).await;
                    }
                });
            }
        });
        Self { port, bundle: STANDARD.encode(made.cert.pem()), calls }
    }

    /// The calls since this was asked last.
    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

async fn serve(
    mut tls: TlsStream<TcpStream>,
    answer: Answer,
    record: &Mutex<Vec<(String, Value)>>,
) -> Option<()> {
    let mut read = Vec::new();
    loop {
        let head = loop {
            if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if tls.read_buf(&mut read).await.ok()? == 0 {
                return None;
            }
        };
        let text = String::from_utf8_lossy(&read[..head]).into_owned();
        let length = text.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
        });
        let end = head + length.unwrap_or_default();
        while read.len() < end {
            tls.read_buf(&mut read).await.ok()?;
        }
        let body: Value = serde_json::from_slice(&read[head..end]).unwrap_or_default();
        read.drain(..end);
        let path = text.split(' ').nth(1)?.to_owned();
        record.lock().unwrap().push((path.clone(), body.clone()));
        let Some((code, media, body)) = answer(path.split('?').next()?, &body) else {
            // The caller gives up first.
            std::future::pending::<()>().await;
            return None;
        };
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {code} X\r\ncontent-type: {media}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        tls.write_all(answer.as_bytes()).await.ok()?;
        tls.flush().await.ok()?;
    }
}
