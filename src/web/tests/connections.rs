//! Idle and stuck connections, over real sockets.

use std::{
    convert::Infallible,
    future::{Future, ready},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use actix_web::{HttpResponse, web};
use futures::{StreamExt, stream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use super::{
    senders::{serve_all, talk, until_closed},
    world::World,
};
use crate::web::{WebState, request_rules::Limits};

const SHORT: Duration = Duration::from_millis(100);

/// A failing server would otherwise block the test.
async fn in_time<T>(what: impl Future<Output = T>) -> T {
    timeout(Duration::from_mins(1), what).await.expect("it ends in time")
}

fn live(address: SocketAddr) -> String {
    format!("GET /livez HTTP/1.1\r\nHost: {address}\r\n\r\n")
}

/// Reads an answer, which ends with `ok`.
async fn answered(stream: &mut TcpStream) {
    let mut answer = String::new();
    while !answer.ends_with("\r\n\r\nok") {
        answer.push(char::from(stream.read_u8().await.unwrap()));
    }
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[actix_web::test]
async fn an_incomplete_later_request_ends_the_connection() {
    // Long enough for the first request on a busy machine.
    let limits = Limits { head: 10 * SHORT, idle: 20 * SHORT, ..Limits::default() };
    let (address, handle) = serve_all(World::running().state, limits);
    let mut stream = talk(address, &live(address)).await;
    in_time(answered(&mut stream)).await;
    // On a busy machine the connection may have been idle for too long before.
    let _ = stream.write_all(b"GET /livez HTTP/1.1\r\nX-Slow: ").await;
    assert_eq!(in_time(until_closed(&mut stream)).await, "");
    handle.stop(false).await;
}

/// A state with a path whose answer is endless, and one whose answer is silent.
fn with_endless_answers() -> WebState {
    let mut state = World::running().state;
    let chunk = web::Bytes::from_static(&[b' '; 16 << 10]);
    state.program.routes.push(Arc::new(move |config| {
        let chunks = stream::repeat(Ok::<_, Infallible>(chunk.clone()));
        let endless = move || ready(HttpResponse::Ok().streaming(chunks.clone()));
        let silent = || {
            let beginning = stream::iter([Ok::<_, Infallible>(web::Bytes::from_static(b"-"))]);
            ready(HttpResponse::Ok().streaming(beginning.chain(stream::pending())))
        };
        config.route("/endless", web::get().to(endless));
        config.route("/silent", web::get().to(silent));
    }));
    state
}

#[cfg(target_os = "linux")]
#[actix_web::test]
async fn a_connection_whose_client_reads_nothing_is_replaced() {
    let limits = Limits { stalled: SHORT, connections: 1, reserve: 0, ..Limits::default() };
    let (address, handle) = serve_all(with_endless_answers(), limits);
    let endless = format!("GET /endless HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut stalled = talk(address, &endless).await;
    // The answer starts, and the client reads no further.
    in_time(stalled.read_u8()).await.unwrap();
    let accepted = async {
        while until_closed(&mut talk(address, &once(address, "/livez")).await).await.is_empty() {}
    };
    in_time(accepted).await;
    handle.stop(false).await;
}

#[actix_web::test]
async fn an_answer_in_progress_keeps_its_connection() {
    let limits = Limits { idle: SHORT, stalled: SHORT, ..Limits::default() };
    let (address, handle) = serve_all(with_endless_answers(), limits);
    let silent = format!("GET /silent HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut listener = talk(address, &silent).await;
    let mut answer = String::new();
    while !answer.ends_with("-\r\n") {
        answer.push(char::from(in_time(listener.read_u8()).await.unwrap()));
    }
    let more = timeout(10 * SHORT, listener.read_u8()).await;
    assert!(more.is_err(), "the connection stays open: {more:?}");
    handle.stop(false).await;
}

/// The last request of a connection.
fn once(address: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
}

/// The answer to it, for a client with this address of the loopback.
async fn asked_from(from: [u8; 4], address: SocketAddr, path: &str) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(once(address, path).as_bytes()).await.unwrap();
    in_time(until_closed(&mut stream)).await
}

async fn asked(address: SocketAddr, path: &str) -> String {
    asked_from([127, 0, 0, 1], address, path).await
}

/// A connection with an answer in progress.
async fn listening(address: SocketAddr) -> TcpStream {
    let silent = format!("GET /silent HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut listener = talk(address, &silent).await;
    in_time(listener.read_u8()).await.unwrap();
    listener
}

#[actix_web::test]
async fn new_connections_replace_idle_ones() {
    let limits = Limits { connections: 2, reserve: 0, ..Limits::default() };
    let (address, handle) = serve_all(with_endless_answers(), limits);
    // One has sent nothing, and the other has received an answer and stays open.
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut kept = talk(address, &live(address)).await;
    in_time(answered(&mut kept)).await;
    let _first = listening(address).await;
    assert_eq!(in_time(until_closed(&mut silent)).await, "", "it was idle for longest");
    let _second = listening(address).await;
    assert_eq!(in_time(until_closed(&mut kept)).await, "", "it was idle too");
    handle.stop(false).await;
}

#[actix_web::test]
async fn a_probe_is_answered_while_all_connections_are_busy() {
    let limits = Limits { connections: 2, reserve: 1, ..Limits::default() };
    let (address, handle) = serve_all(with_endless_answers(), limits);
    let _busy = [listening(address).await, listening(address).await];
    // The server closes the connection after the answer to a probe.
    let mut probe = talk(address, &live(address)).await;
    let answer = in_time(until_closed(&mut probe)).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
    let other = asked(address, "/version").await;
    assert!(other.starts_with("HTTP/1.1 503"), "{other}");
    assert!(other.contains("retry-after") && other.contains("too many connections"), "{other}");
    // An idle connection in a reserved slot is replaced.
    let mut idle = TcpStream::connect(address).await.unwrap();
    assert!(asked(address, "/readyz").await.starts_with("HTTP/1.1 "));
    assert_eq!(in_time(until_closed(&mut idle)).await, "");
    handle.stop(false).await;
}

#[cfg(target_os = "linux")]
#[actix_web::test]
async fn one_client_cannot_use_the_slots_of_others() {
    let limits = Limits { connections: 9, per_peer: 2, reserve: 1, ..Limits::default() };
    let (address, handle) = serve_all(with_endless_answers(), limits);
    let _busy = [listening(address).await, listening(address).await];
    assert!(asked(address, "/version").await.starts_with("HTTP/1.1 503"));
    assert!(asked(address, "/livez").await.starts_with("HTTP/1.1 200"));
    assert!(asked_from([127, 0, 0, 2], address, "/version").await.starts_with("HTTP/1.1 200"));
    handle.stop(false).await;
}
