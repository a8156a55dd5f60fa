//! Lists that were answered before, to be answered again.

use std::collections::HashMap;

use bytes::Bytes;
use http::{Request, Uri};
use serde_json::Value;

/// The last answer to each list: the body, or the frames up to the bookmark that ends it.
#[derive(Debug, Default)]
pub(super) struct Lists(HashMap<String, Vec<Bytes>>);

/// Parameters that do not change what is listed.
const PASSING: [&str; 4] = ["resourceVersion", "resourceVersionMatch", "timeoutSeconds", "timeout"];

impl Lists {
    pub(super) fn get(&self, key: &str) -> Option<Vec<Bytes>> {
        self.0.get(key).cloned()
    }

    pub(super) fn remember(&mut self, key: &str, lines: Vec<Bytes>) {
        self.0.insert(key.to_owned(), lines);
    }
}

/// What tells one list from another.
pub(super) fn key<B>(request: &Request<B>) -> String {
    with_query(request.uri(), |name| !PASSING.contains(&name), &[])
}

/// The request for what came after a remembered list that began a watch.
pub(super) fn continuing<B>(request: &mut Request<B>, lines: &[Bytes]) -> Option<()> {
    let frame: Value = serde_json::from_slice(lines.last()?).ok()?;
    let version = frame["object"]["metadata"]["resourceVersion"].as_str()?;
    let is_kept = |name: &str| {
        !["sendInitialEvents", "resourceVersionMatch", "resourceVersion"].contains(&name)
    };
    let uri = with_query(request.uri(), is_kept, &[("resourceVersion", version)]);
    *request.uri_mut() = uri.parse().ok()?;
    Some(())
}

/// Whether a frame ends the list that begins a watch.
pub(super) fn ends_list(frame: &Value) -> bool {
    frame["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
}

fn with_query(uri: &Uri, is_kept: impl Fn(&str) -> bool, more: &[(&str, &str)]) -> String {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.filter(|(name, _)| is_kept(name))).extend_pairs(more);
    let mut parts = uri.clone().into_parts();
    let target = format!("{}?{}", uri.path(), query.finish());
    parts.path_and_query = target.parse().ok();
    Uri::from_parts(parts).map_or(target, |uri| uri.to_string())
}
