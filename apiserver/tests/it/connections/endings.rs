//! What ends with a client, or with the server. All watches here are quiet: nothing is written to them.

use std::os::fd::AsFd;

use futures::FutureExt;
use http_body_util::BodyExt;
use kube::api::PostParams;
use tokio::io::AsyncWriteExt;

use super::raw::{Listening, at_once, http_2_over, read_until, rest};
use crate::common::{config_map, config_maps};

const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=1";
/// Waits for three seconds.
const LATER: &str = "/api/v1/namespaces/default/configmaps?resourceVersion=1000";
/// The last chunk of a body.
const LAST: &str = "0\r\n\r\n";

#[operetta_harness::test]
async fn a_quiet_watch_ends_when_its_client_closes_tls_and_the_answer_is_complete() {
    let listening = Listening::start();
    let mut stream = listening.get(WATCH, "").await;
    read_until(&mut stream, "\r\n\r\n").await;
    listening.watches(1).await;
    stream.get_mut().1.send_close_notify();
    stream.flush().await.unwrap();
    assert_eq!(rest(&mut stream).await, LAST);
    listening.watches(0).await;
}

#[operetta_harness::test]
async fn a_quiet_watch_ends_when_its_client_closes_its_side_of_tcp() {
    let listening = Listening::start();
    let mut stream = listening.get(WATCH, "").await;
    read_until(&mut stream, "\r\n\r\n").await;
    stream.get_mut().0.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, LAST);
    listening.watches(0).await;
}

#[operetta_harness::test]
async fn a_quiet_watch_ends_when_its_client_vanishes() {
    let listening = Listening::start();
    for is_reset in [false, true] {
        let mut stream = listening.get(WATCH, "").await;
        read_until(&mut stream, "\r\n\r\n").await;
        listening.watches(1).await;
        if is_reset {
            stream.get_ref().0.set_zero_linger().unwrap();
        }
        drop(stream);
        listening.watches(0).await;
    }
}

#[operetta_harness::test]
async fn a_request_of_a_client_that_sends_nothing_more_is_answered() {
    let listening = Listening::start();
    for (target, length) in [("/version", 300), ("/openapi/v2", 1_000_000)] {
        let mut stream = listening.get(target, "").await;
        stream.shutdown().await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:.100}");
        let is_whole = answer.trim_end().ends_with('}');
        assert!(answer.len() > length && is_whole, "{target}: {}", answer.len());
    }
}

#[operetta_harness::test]
async fn a_request_on_a_stream_of_http_2_that_is_reset_is_not_answered() {
    let listening = Listening::start();
    let (mut sender, _connection) = listening.http_2().await;
    let answer = tokio::spawn(sender.send_request(listening.request(LATER)));
    let is_under_way = async {
        while listening.server.requests().now_or_never().is_some() {
            tokio::task::yield_now().await;
        }
    };
    at_once(is_under_way).await;
    answer.abort();
    let requests = at_once(listening.server.requests()).await;
    assert_eq!(requests.last().map(|request| request.status), Some(0), "{requests:?}");
}

#[operetta_harness::test]
async fn a_connection_is_used_again_and_a_quiet_one_stays_open() {
    let listening = Listening::start();
    let mut stream = listening.get("/healthz", "").await;
    for _ in 0..3 {
        let head = read_until(&mut stream, "\r\n\r\nok").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    }
}

#[operetta_harness::test]
async fn a_stream_of_http_2_that_is_reset_ends_its_watch_and_no_other() {
    let listening = Listening::start();
    let (mut sender, _connection) = listening.http_2().await;
    let mut bodies = Vec::new();
    for _ in 0..3 {
        let response = sender.send_request(listening.request(WATCH)).await.unwrap();
        bodies.push(response.into_body());
    }
    listening.watches(3).await;
    drop(bodies.pop());
    listening.watches(2).await;
    let api = config_maps(&listening.server.client());
    let made = config_map("a", "1");
    api.create(&PostParams::default(), &serde_json::from_value(made).unwrap()).await.unwrap();
    for body in &mut bodies {
        assert!(at_once(body.frame()).await.unwrap().unwrap().is_data());
    }
}

#[operetta_harness::test]
async fn the_watches_of_a_connection_of_http_2_end_with_it() {
    let listening = Listening::start();
    let stream = listening.connect("h2").await;
    let socket = stream.get_ref().0.as_fd().try_clone_to_owned().unwrap();
    let (mut sender, _connection) = http_2_over(stream).await;
    let response = sender.send_request(listening.request(WATCH)).await.unwrap();
    listening.watches(1).await;
    std::net::TcpStream::from(socket).shutdown(std::net::Shutdown::Both).unwrap();
    listening.watches(0).await;
    drop(response);
}

#[operetta_harness::test]
async fn a_watch_ends_at_its_timeout_and_the_connection_is_used_again() {
    let listening = Listening::start();
    let mut stream = listening.get(&format!("{WATCH}&timeoutSeconds=1"), "").await;
    read_until(&mut stream, LAST).await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    read_until(&mut stream, "\r\n\r\nok").await;
}

#[operetta_harness::test]
async fn a_server_that_stops_ends_its_answers_properly_and_then_the_connections() {
    let listening = Listening::start();
    let mut stream = listening.get(WATCH, "").await;
    read_until(&mut stream, "\r\n\r\n").await;
    let idle = listening.connect("http/1.1").await;
    let (mut sender, connection) = listening.http_2().await;
    let body = sender.send_request(listening.request(WATCH)).await.unwrap().into_body();
    let address = listening.running.address();
    at_once(listening.running.stop()).await;
    assert_eq!(rest(&mut stream).await, LAST);
    assert!(at_once(body.collect()).await.unwrap().to_bytes().is_empty());
    at_once(connection).await.unwrap();
    drop(idle);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    assert!(listening.server.open_watches().is_empty());
}
