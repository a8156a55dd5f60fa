//! Watches that are opened and dropped leave nothing: no socket, and no memory.

use std::{
    io::{Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Request, header};
use http_body_util::Empty;
use hyper::{body::Bytes, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{
    CONFIG_MAPS,
    process::{Process, Tls},
};

/// How many watches are open at a time over HTTP/1.1, and how many over HTTP/2.
const BATCH: usize = 50;
/// How long the server may take to see that clients are gone.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much memory may differ in KiB: allocators keep some.
const TOLERANCE: u64 = 8 * 1024;

#[operetta_harness::test]
async fn dropped_watches_leave_nothing() {
    drop_watches(400).await;
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long hostile"]
async fn ten_thousand_dropped_watches_leave_nothing() {
    drop_watches(10_000).await;
}

async fn drop_watches(count: usize) {
    let process = Process::start();
    // Until the memory that stays is there.
    for _ in 0..4 {
        drop_batch(&process).await;
    }
    let nothing_open = settled(&process, usize::MAX);
    for _ in 0..count.div_ceil(2 * BATCH) {
        drop_batch(&process).await;
    }
    let (files, before) = nothing_open;
    let (_, after) = settled(&process, files);
    println!("figure: {before} KiB before {count} watches, {after} KiB after them");
    assert!(after < before + TOLERANCE, "{before} KiB before, {after} KiB after");
}

/// What the process uses once it has no more files open than that, and no connection.
fn settled(process: &Process, files: usize) -> (usize, u64) {
    let begun = Instant::now();
    loop {
        let open = watches(process);
        let usage = process.usage();
        if open == 0 && usage.0 <= files {
            return usage;
        }
        assert!(begun.elapsed() < PATIENCE, "{open} watches and {} files stay open", usage.0);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many watches are open, as the server says.
fn watches(process: &Process) -> u64 {
    let metrics = process.send("GET", "/metrics", "", b"");
    let line = metrics.lines().find(|it| it.starts_with("apiserver_longrunning_requests{"));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_default()
}

async fn drop_batch(process: &Process) {
    let mut open: Vec<Tls> = (0..BATCH).map(|_| watch(process)).collect();
    for (at, stream) in open.iter_mut().enumerate() {
        // Half of them close TLS, half of them only TCP.
        if at % 2 == 0 {
            stream.conn.send_close_notify();
            stream.flush().expect("it is open");
        }
    }
    drop_streams(process).await;
}

/// A watch over HTTP/1.1 that has begun.
fn watch(process: &Process) -> Tls {
    let mut stream = process.connect_tls();
    let head = process.head("GET", &format!("{CONFIG_MAPS}?watch=true"), "");
    stream.write_all(head.as_bytes()).expect("it is open");
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).expect("it is answered");
    assert_eq!(&begin, b"HTTP/1.1 200");
    stream
}

/// Watches over HTTP/2: half of them are reset, and half of them end with the connection.
async fn drop_streams(process: &Process) {
    let mut trust = process.trust();
    trust.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(process.address()).await.expect("it listens");
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TlsConnector::from(Arc::new(trust)).connect(name, stream).await.expect("TLS");
    let http = http2::Builder::new(TokioExecutor::new());
    let (mut sender, connection) =
        http.handshake::<_, Empty<Bytes>>(TokioIo::new(stream)).await.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    let mut open = Vec::new();
    for _ in 0..BATCH {
        let request = Request::get(format!("https://localhost{CONFIG_MAPS}?watch=true"));
        let request = request.header(header::AUTHORIZATION, process.authorization());
        let answer = sender.send_request(request.body(Empty::new()).expect("a request")).await;
        open.push(answer.expect("it is answered"));
    }
    open.truncate(BATCH / 2);
    drop((open, sender));
    connection.await.expect("no panic").expect("it ends well");
}
