//! Reads the requests.

use http::{HeaderName, HeaderValue, header};

/// A line of the script.
pub(crate) enum Line {
    Request(Request),
    /// Waits for this code at this path.
    Until(u16, &'static str),
}

pub(crate) struct Request {
    pub(crate) line: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: String,
}

/// The script.
pub(crate) fn lines() -> impl Iterator<Item = Line> {
    let lines = include_str!("requests.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '=']));
    lines.map(|line| match line.strip_prefix("UNTIL ") {
        Some(condition) => {
            let (code, path) = condition.split_once(' ').unwrap();
            Line::Until(code.parse().unwrap(), path)
        }
        None => Line::Request(request(line)),
    })
}

fn request(line: &'static str) -> Request {
    let mut parts = line.split(' ');
    let (method, path) = (parts.next().unwrap(), parts.next().unwrap());
    let (method, media) = match method {
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        "MERGE" => ("PATCH", "application/merge-patch+json"),
        "JSON" => ("PATCH", "application/json-patch+json"),
        "STRATEGIC" => ("PATCH", "application/strategic-merge-patch+json"),
        method => (method, "application/json"),
    };
    let mut headers = vec![
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::USER_AGENT, HeaderValue::from_static("options/1.0")),
    ];
    let mut body = Vec::new();
    for part in parts {
        match part.strip_prefix('+').and_then(|header| header.split_once('=')) {
            Some((name, value)) => {
                let name: HeaderName = name.parse().unwrap();
                headers.retain(|(other, _)| *other != name);
                headers.push((name, HeaderValue::from_static(value)));
            }
            None => body.push(part),
        }
    }
    Request { line, method, path: full(path), headers, body: body.join(" ") }
}

/// The path with what it abbreviates, and without characters that no URI has.
fn full(path: &str) -> String {
    let path = path.replace("$C", "$N/configmaps").replace("$N", "/api/v1/namespaces/options");
    path.replace('<', "%3C").replace('>', "%3E")
}
