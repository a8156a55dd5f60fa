//! Malicious HTTP/2 clients: raw frames over TLS.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use actix_web::dev::ServerHandle;
use rustls::{ClientConnection, StreamOwned, version::TLS13};

use super::{
    reviewer::Reviewer,
    tls::{connect_for, pair},
    world::World,
};
use crate::web::{Protection, Tls, listen, request_rules::Limits, server::limited};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const ENDS_STREAM_AND_HEADERS: u8 = 5;

/// A client that has sent its preface.
struct Client(StreamOwned<ClientConnection, TcpStream>);

impl Client {
    fn new(address: SocketAddr, trusted: &str) -> Self {
        let mut stream = connect_for(address, trusted, &TLS13, &["h2"]).unwrap();
        // A failing server would otherwise block the test.
        stream.sock.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
        Self(stream)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        self.0.write_all(frame).and_then(|()| self.0.flush()).is_ok()
    }

    /// GET of a path.
    fn get(&mut self, stream: u8, path: &str) {
        // `:method GET`, `:scheme https`, and literal fields with names of the static table.
        let mut block = vec![0x82, 0x87];
        for (name, value) in [(0x41, "localhost"), (0x44, path)] {
            block.extend([name, u8::try_from(value.len()).unwrap()]);
            block.extend(value.as_bytes());
        }
        assert!(self.send(&frame(HEADERS, ENDS_STREAM_AND_HEADERS, stream, &block)));
    }

    /// The kind and content of the next frame; `None` when the connection is closed.
    fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 9];
        self.read(&mut head)?;
        let [_, high, low, kind, ..] = head;
        let mut content = vec![0; usize::from(u16::from_be_bytes([high, low]))];
        self.read(&mut content)?;
        Some((kind, content))
    }

    fn read(&mut self, into: &mut [u8]) -> Option<()> {
        let read = self.0.read_exact(into);
        let kind = read.as_ref().map_err(std::io::Error::kind);
        assert!(!matches!(kind, Err(std::io::ErrorKind::WouldBlock)), "no answer and no end");
        read.ok()
    }

    fn is_answered(&mut self, text: &str) -> bool {
        let mut frames = std::iter::from_fn(|| self.next());
        frames.any(|(kind, content)| kind == DATA && content == text.as_bytes())
    }

    /// Reads until the connection is closed.
    fn end(mut self) {
        while self.next().is_some() {}
    }
}

fn frame(kind: u8, flags: u8, stream: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[0, high, low, kind, flags, 0, 0, 0, stream], content].concat()
}

/// A server with its certificate.
fn serve(protection: Protection, limits: Limits) -> (SocketAddr, String, ServerHandle) {
    let (certificate, key) = pair();
    let certificates = Some(Tls::from_pem(certificate.clone(), key).load().unwrap());
    let listener = listen("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let protection = Protection { certificates, ..protection };
    let server = limited(listener, World::running().state, protection, limits).unwrap();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    (address, certificate, handle)
}

#[actix_web::test]
async fn a_flood_of_frames_without_content_ends_only_its_connection() {
    let (address, certificate, handle) = serve(Protection::default(), Limits::default());
    let asked = tokio::task::spawn_blocking(move || {
        let mut other = Client::new(address, &certificate);
        let headers = frame(HEADERS, 0, 1, &[0x82]);
        for (first, flood) in [
            (None, frame(PING, 0, 0, &[0; 8])),
            (None, frame(SETTINGS, 0, 0, &[])),
            (Some(headers), frame(CONTINUATION, 0, 1, &[])),
        ] {
            let mut client = Client::new(address, &certificate);
            assert!(first.is_none_or(|first| client.send(&first)));
            let floods = flood.repeat(100);
            // The connection ends during or after the flood.
            if (0..1000).all(|_| client.send(&floods)) {
                client.end();
            }
        }
        other.get(1, "/livez");
        assert!(other.is_answered("ok"));
        assert!(other.send(&frame(PING, 0, 0, b"so far  ")));
        while other.next().expect("a ping is answered").0 != PING {}
    });
    asked.await.unwrap();
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_request_without_a_token_ends_the_connection() {
    let access = Reviewer::default().rules().access;
    let protection = Protection { access, ..Protection::default() };
    let (address, certificate, handle) = serve(protection, Limits::default());
    let asked = tokio::task::spawn_blocking(move || {
        let mut client = Client::new(address, &certificate);
        client.get(1, "/livez");
        assert!(client.is_answered("ok"), "a probe needs no token");
        client.get(3, "/version");
        let kinds: Vec<u8> = std::iter::from_fn(|| client.next()).map(|(kind, _)| kind).collect();
        assert!(kinds.contains(&DATA) && !kinds.contains(&GO_AWAY), "{kinds:?}");
    });
    asked.await.unwrap();
    handle.stop(false).await;
}

#[actix_web::test]
async fn connections_without_a_handshake_are_replaced() {
    let limits =
        Limits { connections: 2, reserve: 0, head: Duration::from_mins(2), ..Limits::default() };
    let (address, certificate, handle) = serve(Protection::default(), limits);
    let asked = tokio::task::spawn_blocking(move || {
        let silent: Vec<TcpStream> = (0..9).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut client = Client::new(address, &certificate);
        client.get(1, "/livez");
        assert!(client.is_answered("ok"));
        drop(silent);
    });
    asked.await.unwrap();
    handle.stop(false).await;
}
