//! Reads the requests.

use http::{HeaderName, HeaderValue, header};

/// A line of the script.
pub(crate) enum Line {
    Request(Request),
    /// Waits for this code at this path.
    Until(u16, &'static str),
    /// Remembers the version of the last answer.
    Keep,
}

/// A request whose path and selector have abbreviations.
pub(crate) struct Request {
    pub(crate) line: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) selector: Option<String>,
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
        None if line == "KEEP" => Line::Keep,
        None => Line::Request(request(line)),
    })
}

fn request(line: &'static str) -> Request {
    let (front, selector) = match line.split_once(" :: ") {
        Some((front, selector)) => (front, Some(selector)),
        None => (line, None),
    };
    let (selector, header) = match selector.and_then(|it| it.split_once(" +")) {
        Some((selector, header)) => (Some(selector), header.split_once('=')),
        None => (selector, None),
    };
    let (method, rest) = front.split_once(' ').unwrap();
    let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
    let (method, media) = match method {
        "MERGE" => ("PATCH", "application/merge-patch+json"),
        method => (method, "application/json"),
    };
    let mut headers = vec![
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::USER_AGENT, HeaderValue::from_static("shards/1.0")),
    ];
    let more = header.map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
    headers.extend(more);
    let selector = selector.map(str::to_owned);
    Request { line, method, path, selector, headers, body: body.to_owned() }
}
