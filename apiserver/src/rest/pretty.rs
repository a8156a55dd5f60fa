//! JSON for human eyes: in lines, as the parameter `pretty` asks for, or as browsers and curl are given it.

use bytes::Bytes;
use http::{HeaderMap, Response, header};

use super::{accept::Format, body::Body};
use crate::query::Query;

const HUMANS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];
const INDENT: &str = "  ";

/// The same answer in lines, where it is asked for. Watches and long lists come as they are.
pub(super) fn answer(
    mut response: Response<Body>,
    path: &str,
    query: &Query,
    headers: &HeaderMap,
) -> Response<Body> {
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|it| it.as_bytes() == Format::Json.media_type().as_bytes());
    let is_failure = response.status().as_u16() >= 400;
    let is_always = if is_failure { wants_another_form(headers) } else { path == "/version" };
    // What OpenAPI says is not an object.
    let is_never = !is_failure && path.starts_with("/openapi");
    if is_json
        && !is_never
        && (is_always || is_wanted(query, headers))
        && let Body::Full(Some(bytes)) = response.body_mut()
    {
        *bytes = in_lines(bytes);
    }
    response
}

fn is_wanted(query: &Query, headers: &HeaderMap) -> bool {
    if let Some(pretty) = query.text("pretty") {
        return matches!(pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let text = |name| headers.get(name).and_then(|it: &http::HeaderValue| it.to_str().ok());
    let agent = text(header::USER_AGENT).unwrap_or_default();
    HUMANS.iter().any(|human| agent.starts_with(human))
}

/// Whether only other forms of objects are accepted. Then failures come as they are, in lines.
fn wants_another_form(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    !accept.is_empty() && accept.split(',').all(|range| range.contains(";as="))
}

/// Breaks JSON into lines. Its texts and numbers stay as they are.
fn in_lines(json: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    let mut bytes = json.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if in_text {
            out.push(byte);
            in_text = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'{' | b'[' => {
                out.push(byte);
                while bytes.next_if(u8::is_ascii_whitespace).is_some() {}
                if let Some(end) = bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                in_text = byte == b'"';
                out.push(byte);
            }
        }
    }
    out.into()
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(INDENT.as_bytes(), depth).flatten());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn lines_are_those_of_a_printer() {
        let value = json!({
            "a": [], "b": {}, "c": [1, { "d": "x,{}[]:\\\"\n" }, [null]], "e": -1.5, "": true,
        });
        let expected = serde_json::to_string_pretty(&value).unwrap();
        for text in [value.to_string(), expected.clone()] {
            assert_eq!(in_lines(text.as_bytes()), expected);
        }
        assert_eq!(in_lines(b"[ ]"), "[]");
        assert_eq!(in_lines(b"7"), "7");
    }

    #[test]
    fn it_is_for_those_who_ask_and_for_people() {
        let is = |query: &str, agent: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::USER_AGENT, agent.parse().unwrap());
            is_wanted(&Query::parse(query), &headers)
        };
        assert!(is("pretty=true", "kubectl") && is("pretty=1", "") && is("", "curl/8.0"));
        assert!(!is("pretty=0", "curl/8.0") && !is("pretty=yes", "curl") && !is("pretty=", "x"));
        assert!(is("pretty=", "Mozilla/5.0 (X11)") && !is("", "Go-http-client/1.1"));
    }

    #[test]
    fn any_json_stays_what_it_is() {
        const TOKENS: [&str; 9] = ["{", "}", "[", "]", "\"", "\\", ",", ":", "1"];
        operetta_harness::random::texts(&TOKENS, |text| {
            if let Ok(value) = serde_json::from_str::<Value>(text) {
                let lines: Value = serde_json::from_slice(&in_lines(text.as_bytes())).unwrap();
                assert_eq!(lines, value);
            }
        });
    }
}
