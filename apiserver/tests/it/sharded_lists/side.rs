//! One of the two servers, with the uids of its objects.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use form_urlencoded::byte_serialize;
use http::header;
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::Value;

use super::script::Request;
use crate::options_alike::masked;

const NAMESPACE: &str = "/api/v1/namespaces/sharded";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/sharded/widgets";
/// How long the real server may take to serve a new type.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Side {
    client: Client,
    /// By the name of the object.
    uids: HashMap<String, String>,
    /// The version of the last answer, and the one that was kept.
    last: String,
    version: String,
    token: String,
}

impl Side {
    pub(crate) fn new(client: Client) -> Self {
        let nothing = String::new;
        Self { client, uids: HashMap::new(), last: nothing(), version: nothing(), token: nothing() }
    }

    pub(crate) fn keep(&mut self) {
        self.version.clone_from(&self.last);
    }

    pub(crate) async fn wait(&self, code: u16, path: &str) {
        let start = Instant::now();
        let path = self.path(path);
        loop {
            let request = http::Request::get(&path).body(Body::empty()).unwrap();
            if self.client.send(request).await.unwrap().status() == code {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{path} is not answered with {code}");
            tokio::task::yield_now().await;
        }
    }

    /// Code, media type and body of an answer, without what differs between any two servers.
    pub(crate) async fn send(&mut self, request: &Request) -> String {
        let mut path = self.path(request.path);
        let selector = request.selector.as_deref().map(|selector| self.selector(selector));
        if let Some((selector, _)) = &selector {
            let encoded: String = byte_serialize(selector.as_bytes()).collect();
            let before = if path.contains('?') { '&' } else { '?' };
            path = format!("{path}{before}shardSelector={encoded}");
        }
        let mut built = http::Request::builder().method(request.method).uri(path);
        for (name, value) in &request.headers {
            built = built.header(name, value);
        }
        let built = built.body(Body::from(request.body.clone().into_bytes())).unwrap();
        let (parts, body) = self.client.send(built).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let media = parts.headers.get(header::CONTENT_TYPE).map(|it| it.to_str().unwrap());
        self.learn(&bytes);
        let mut text = match serde_json::from_slice::<Value>(&bytes) {
            Err(_) if bytes.starts_with(b"k8s\0") => in_protobuf(&bytes),
            _ => masked(&String::from_utf8_lossy(&bytes)),
        };
        for (range, abbreviation) in selector.into_iter().flat_map(|(_, ranges)| ranges) {
            text = text.replace(&range, &abbreviation);
        }
        format!("{} {}\n{text}", parts.status.as_u16(), media.unwrap_or_default())
    }

    /// Remembers what later requests refer to.
    fn learn(&mut self, answer: &[u8]) {
        let Ok(answer) = serde_json::from_slice::<Value>(answer) else { return };
        let metadata = &answer["metadata"];
        let text = |field: &str| metadata[field].as_str().map(str::to_owned);
        if let (Some(name), Some(uid)) = (text("name"), text("uid")) {
            // An object that is made again is another one.
            self.uids.insert(name, uid);
        }
        if let Some(version) = text("resourceVersion") {
            self.last = version;
        }
        if let Some(token) = text("continue").filter(|token| !token.is_empty()) {
            self.token = token;
        }
    }

    fn path(&self, path: &str) -> String {
        let path = path.replace("$C", "$N/configmaps").replace("$N", NAMESPACE);
        let path = path.replace("$W", WIDGETS);
        path.replace("$V", &self.version).replace("$T", &self.token)
    }

    /// A selector without abbreviations, and what each was.
    fn selector(&self, text: &str) -> (String, Vec<(String, String)>) {
        let mut whole = text.to_owned();
        let mut ranges = Vec::new();
        while let Some((before, rest)) = whole.split_once('{') {
            let (names, after) = rest.split_once('}').unwrap();
            let of_names: Vec<_> = names.split(' ').map(|name| self.range(name)).collect();
            for (name, range) in names.split(' ').zip(&of_names) {
                ranges.push((range.clone(), format!("<range of {name}>")));
            }
            whole = format!("{before}{}{after}", of_names.join(" || "));
        }
        (whole, ranges)
    }

    /// The range that has one object.
    fn range(&self, name: &str) -> String {
        let hash = fnv(&self.uids[name]);
        let end = u128::from(hash) + 1;
        format!("shardRange(object.metadata.uid, '0x{hash:016x}', '0x{end:016x}')")
    }
}

fn fnv(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The texts in a message, as far as they are compared: selectors, names and kinds.
fn in_protobuf(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let texts = text.split(|c: char| !(' '..='~').contains(&c)).filter(|it| {
        it.starts_with("shardRange(") || it.ends_with("List") || it.starts_with("shards/")
    });
    texts.collect::<Vec<_>>().join("\n")
}
