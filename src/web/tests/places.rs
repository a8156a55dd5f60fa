//! Who holds a connection without a request, or reads nothing, over real sockets.

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
    net::TcpStream,
    time::timeout,
};

use super::{
    senders::{serve_all, talk, until_closed},
    world::World,
};
use crate::web::{WebState, gate::Limits};

const SHORT: Duration = Duration::from_millis(100);

/// Nothing that is right takes so long.
async fn in_time<T>(what: impl Future<Output = T>) -> T {
    timeout(Duration::from_mins(1), what).await.expect("it comes to its end")
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
async fn a_later_request_that_does_not_come_to_its_end_ends_the_connection() {
    let limits = Limits { head: SHORT, idle: Duration::from_secs(2), ..Limits::default() };
    let (address, handle) = serve_all(World::running().state, limits);
    let mut stream = talk(address, &live(address)).await;
    in_time(answered(&mut stream)).await;
    // On a machine that is busy with other things it may have been idle for too long before.
    let _ = stream.write_all(b"GET /livez HTTP/1.1\r\nX-Slow: ").await;
    assert_eq!(in_time(until_closed(&mut stream)).await, "");
    handle.stop(false).await;
}

/// With a path that sends without an end, and one that sends nothing for a long time.
fn talkative() -> WebState {
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
async fn who_reads_nothing_makes_room_for_others() {
    let limits = Limits { stalled: SHORT, connections: 1, ..Limits::default() };
    let (address, handle) = serve_all(talkative(), limits);
    let endless = format!("GET /endless HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut deaf = talk(address, &endless).await;
    // It is served, and reads no further.
    in_time(deaf.read_u8()).await.unwrap();
    let mut other = talk(address, &live(address)).await;
    in_time(answered(&mut other)).await;
    handle.stop(false).await;
}

#[actix_web::test]
async fn an_answer_that_is_not_at_its_end_keeps_its_connection() {
    let limits = Limits { head: SHORT, idle: SHORT, stalled: SHORT, ..Limits::default() };
    let (address, handle) = serve_all(talkative(), limits);
    let silent = format!("GET /silent HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut listener = talk(address, &silent).await;
    let mut answer = String::new();
    while !answer.ends_with("-\r\n") {
        answer.push(char::from(in_time(listener.read_u8()).await.unwrap()));
    }
    let more = timeout(10 * SHORT, listener.read_u8()).await;
    assert!(more.is_err(), "neither the end nor anything else has come: {more:?}");
    handle.stop(false).await;
}
