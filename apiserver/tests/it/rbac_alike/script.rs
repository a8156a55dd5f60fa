//! Reads the requests.

use serde_json::{Value, json};

/// A line of the script.
pub(crate) enum Line {
    Request(Request),
    Until(Condition),
}

/// A request of a user.
pub(crate) struct Request {
    pub(crate) line: &'static str,
    pub(crate) user: &'static str,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) body: String,
}

/// Whether a user may do something.
pub(crate) struct Condition {
    pub(crate) user: &'static str,
    pub(crate) review: Value,
    pub(crate) expected: bool,
}

/// The script.
pub(crate) fn lines() -> impl Iterator<Item = Line> {
    let lines = include_str!("requests.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '='])).map(|line| {
        match line.strip_prefix("until ") {
            Some(condition) => Line::Until(until(condition)),
            None => Line::Request(request(line)),
        }
    })
}

fn request(line: &'static str) -> Request {
    let mut parts = line.splitn(4, ' ');
    let who = parts.next().unwrap();
    let (user, headers) = who.split_once('+').unwrap_or((who, ""));
    let headers = headers.split(';').filter_map(|header| header.split_once('=')).collect();
    let (method, path) = (parts.next().unwrap(), parts.next().unwrap());
    let body = typed(path, parts.next().unwrap_or_default());
    Request { line, user, headers, method, path, body }
}

/// The body with its `apiVersion`. Without a kind the server takes that of the path.
fn typed(path: &str, body: &str) -> String {
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let version = match segments.as_slice() {
        ["api", version, ..] => (*version).to_owned(),
        ["apis", group, version, ..] => format!("{group}/{version}"),
        _ => return body.to_owned(),
    };
    match serde_json::from_str::<Value>(body) {
        Ok(mut object) if !object["metadata"].is_null() && !object["roleRef"].is_null() => {
            object["apiVersion"] = json!(version);
            object.to_string()
        }
        _ => body.to_owned(),
    }
}

/// `user verb resource[.group][/subresource] namespace [name] yes|no`
fn until(condition: &'static str) -> Condition {
    let parts: Vec<&str> = condition.split(' ').collect();
    let (user, verb, resource, namespace) = (parts[0], parts[1], parts[2], parts[3]);
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
    let namespace = namespace.trim_matches('-');
    let name = if parts.len() == 6 { parts[4] } else { "" };
    let review = json!({"spec": {"resourceAttributes": {
        "verb": verb, "group": group, "resource": resource, "subresource": subresource,
        "namespace": namespace, "name": name,
    }}});
    Condition { user, review, expected: parts[parts.len() - 1] == "yes" }
}
