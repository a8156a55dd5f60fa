//! Addresses of the web, taken apart as the parser of Go does.

use percent_encoding::percent_decode_str;

use crate::schema::go_value::quote;

/// The parts of an address.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cel) struct Url {
    pub(in crate::cel) scheme: String,
    pub(in crate::cel) host: String,
    pub(in crate::cel) path: String,
    pub(in crate::cel) query: String,
    fragment: String,
}

/// The error of an address in a request; `None` if the address is valid.
pub(in crate::cel) fn request_error(text: &str) -> Option<String> {
    let failed = |reason: String| Some(format!("parse {}: {reason}", quote(text)));
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return failed("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() {
        return failed("empty url".to_owned());
    }
    if text == "*" {
        return None;
    }
    let (scheme, rest) = match split_scheme(text) {
        Ok(parts) => parts,
        Err(reason) => return failed(reason.to_owned()),
    };
    if !rest.starts_with('/') {
        if scheme.is_empty() {
            return failed("invalid URI for request".to_owned());
        }
        return None;
    }
    let (before, _) = rest.split_once('?').unwrap_or((rest, ""));
    let has_authority = !scheme.is_empty() || !before.starts_with("///");
    let Some(authority) = before.strip_prefix("//").filter(|_| has_authority) else {
        return escape_error(before).and_then(failed);
    };
    let end = authority.find('/').unwrap_or(authority.len());
    let reason =
        authority_error(scheme, &authority[..end]).or_else(|| escape_error(&authority[end..]));
    reason.and_then(failed)
}

fn split_scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (at, character) in text.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme"),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn authority_error(scheme: &str, authority: &str) -> Option<String> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let after = if let Some(inner) = host.strip_prefix('[') {
        match inner.find(']') {
            Some(end) => &inner[end + 1..],
            None => return Some("missing ']' in host".to_owned()),
        }
    } else {
        // Databases have lists of hosts with ports, the web has not.
        let is_web = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
        let colon = if is_web { host.find(':') } else { host.rfind(':') };
        colon.map_or("", |colon| &host[colon..])
    };
    let port = after.strip_prefix(':');
    if !after.is_empty() && !port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Some(format!("invalid port {} after host", quote(after)));
    }
    let name = host.split_once('%').map_or(host, |(name, _)| name);
    if let Some(wrong) =
        name.chars().find(|c| matches!(c, ' ' | '\\' | '^' | '`' | '{' | '|' | '}'))
    {
        return Some(format!("invalid character {} in host name", quote(&wrong.to_string())));
    }
    None
}

fn escape_error(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices('%') {
        let is_hex = |offset: usize| bytes.get(at + offset).is_some_and(u8::is_ascii_hexdigit);
        if !is_hex(1) || !is_hex(2) {
            let end = (at + 3).min(text.len());
            let shown = text.get(at..end).unwrap_or("%");
            return Some(format!("invalid URL escape {}", quote(shown)));
        }
    }
    None
}

/// Takes an address apart.
pub(in crate::cel) fn parse(text: &str) -> Url {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (scheme, rest) = split_scheme(text).unwrap_or(("", text));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = match rest.strip_prefix("//") {
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            (after[..end].rsplit_once('@').map_or(&after[..end], |(_, host)| host), &after[end..])
        }
        None if rest.starts_with('/') => ("", rest),
        // What follows the scheme has no path.
        None => ("", ""),
    };
    Url {
        scheme: scheme.to_lowercase(),
        host: percent_decode_str(host).decode_utf8_lossy().into_owned(),
        path: escaped(path),
        query: query.to_owned(),
        fragment: fragment.to_owned(),
    }
}

/// The path, with escapes where they are required.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            _ if b"-_.~$&+,/:;=@%!'()*[]".contains(&byte) => out.push(char::from(byte)),
            _ => out.extend(format!("%{byte:02X}").chars()),
        }
    }
    out
}

/// The name and the port of a host.
pub(in crate::cel) fn split_host(host: &str) -> (&str, &str) {
    match host.rsplit_once(':') {
        Some((name, port))
            if !port.contains(']') && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (name, port)
        }
        _ => (host, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_the_web_has_one_colon() {
        assert!(
            request_error("http://::1").is_some_and(|why| why.contains("invalid port \"::1\""))
        );
        assert_eq!(request_error("http://[::1]:80/a"), None);
        assert_eq!(request_error("db://a:1,b:2"), None);
    }

    #[test]
    fn any_text_is_an_address_or_refused() {
        const TOKENS: [&str; 20] = [
            "http",
            ":",
            "//",
            "/",
            "@",
            "[",
            "]",
            "::1",
            "%",
            "%41",
            "%zz",
            "?",
            "#",
            "a=b&",
            "example.com",
            ":80",
            "*",
            " ",
            ".",
            "{",
        ];
        let parser = |text: &str| {
            let _ = request_error(text);
            let url = parse(text);
            assert!(url.path.len() <= 3 * text.len());
            let _ = split_host(&url.host);
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
