//! Sends the requests to a server.

use std::time::{Duration, Instant};

use http::header;
use http_body_util::BodyExt;
use kube::{Client, client::Body};

use super::{
    mask,
    script::{self, Line, Request},
};

/// How long the real server may take to serve a new type.
const PATIENCE: Duration = Duration::from_secs(20);

/// Each request with its answer.
pub(crate) async fn all(client: &Client) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for line in script::lines() {
        match line {
            Line::Until(code, path) => wait(client, code, path).await,
            Line::Request(request) => {
                let answer = answer(client, &request).await;
                answers.push((request.line.to_owned(), answer));
            }
        }
    }
    answers
}

async fn wait(client: &Client, code: u16, path: &str) {
    let start = Instant::now();
    loop {
        let request = http::Request::get(path).body(Body::empty()).unwrap();
        if client.send(request).await.unwrap().status() == code {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{path} is not answered with {code}");
        tokio::task::yield_now().await;
    }
}

/// Code, media type, warnings and body of an answer, without what differs between any two servers.
async fn answer(client: &Client, request: &Request) -> String {
    let mut built = http::Request::builder().method(request.method).uri(&request.path);
    for (name, value) in &request.headers {
        built = built.header(name, value);
    }
    let built = built.body(Body::from(request.body.clone().into_bytes())).unwrap();
    let (parts, body) = client.send(built).await.unwrap().into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = |name| {
        let values = parts.headers.get_all(name).iter();
        let values: Vec<_> = values.map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
        values.join(", ")
    };
    let mut out = format!("{} {}\n", parts.status.as_u16(), text(header::CONTENT_TYPE));
    let warnings = text(header::WARNING);
    if !warnings.is_empty() {
        out = format!("{out}Warning: {warnings}\n");
    }
    (out + &mask::masked(&String::from_utf8_lossy(&bytes))).trim_end().to_owned()
}
