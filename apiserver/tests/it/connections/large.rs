//! Large heads, and large answers.

use std::io::Read;

use flate2::read::GzDecoder;
use http_body_util::BodyExt;

use super::raw::{Listening, at_once, read_until, rest};

#[operetta_harness::test]
async fn a_head_may_have_many_headers_and_be_large() {
    let listening = Listening::start();
    let many: Vec<_> = (0..300).map(|at| format!("x-{at}: a\r\n")).collect();
    let many = many.concat();
    let long = format!("x-long: {}\r\n", "x".repeat(900_000));
    for headers in [many, long] {
        let mut stream = listening.get("/healthz", &headers).await;
        let head = read_until(&mut stream, "\r\n\r\nok").await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
}

#[operetta_harness::test]
async fn a_head_beyond_a_mebibyte_is_refused() {
    let listening = Listening::start();
    let mut stream = listening.connect("http/1.1").await;
    let head = format!("GET / HTTP/1.1\r\nx-long: {}", "x".repeat(1 << 20));
    // The server may answer before all is sent.
    let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await;
    let answer = rest(&mut stream).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[operetta_harness::test]
async fn a_header_of_http_2_may_be_large() {
    let listening = Listening::start();
    let (mut sender, _connection) = listening.http_2().await;
    let mut request = listening.request("/healthz");
    for at in 0..300 {
        let name: http::HeaderName = format!("x-{at}").parse().unwrap();
        request.headers_mut().insert(name, "a".repeat(1_000).parse().unwrap());
    }
    assert_eq!(at_once(sender.send_request(request)).await.unwrap().status(), 200);
}

#[operetta_harness::test]
async fn a_large_document_arrives_whole_and_compressed_for_those_who_accept_it() {
    let listening = Listening::start();
    let (mut sender, _connection) = listening.http_2().await;
    let mut plain = sender.send_request(listening.request("/openapi/v2")).await.unwrap();
    let length: usize = plain.headers()["content-length"].to_str().unwrap().parse().unwrap();
    let mut received = 0;
    while let Some(frame) = at_once(plain.frame()).await {
        received += frame.unwrap().into_data().unwrap().len();
    }
    assert_eq!(received, length);
    assert!(received > 1_000_000);
    let mut request = listening.request("/openapi/v2");
    request.headers_mut().insert("accept-encoding", "gzip".parse().unwrap());
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let vary: Vec<_> = response.headers().get_all("vary").iter().collect();
    assert_eq!(vary, ["Accept-Encoding", "Accept"]);
    let compressed = at_once(response.into_body().collect()).await.unwrap().to_bytes();
    let mut text = String::new();
    GzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text.len(), length);
}
