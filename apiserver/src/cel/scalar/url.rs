//! Addresses of the web, taken apart as the parser of Go does.

use percent_encoding::percent_decode_str;

use super::go_address;
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
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    host_error(scheme, host).or_else(|| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
        if user.chars().all(is_fine) {
            return escape_error(user);
        }
        Some("net/url: invalid userinfo".to_owned())
    })
}

fn host_error(scheme: &str, host: &str) -> Option<String> {
    let port = |after: &str| {
        let digits = after.strip_prefix(':');
        let is_port = digits.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        let is_wrong = !after.is_empty() && !is_port;
        is_wrong.then(|| format!("invalid port {} after host", quote(after)))
    };
    match host.rfind('[') {
        Some(0) => {
            let Some(end) = host.rfind(']') else { return Some("missing ']' in host".to_owned()) };
            let inner = &host[1..end];
            port(&host[end + 1..])
                .or_else(|| name_error(inner.split_once("%25").map_or(inner, |(it, _)| it)))
                .or_else(|| literal_error(&inner.replace("%25", "%")))
        }
        Some(_) => Some("invalid IP-literal".to_owned()),
        None => {
            // Other schemes may list several hosts with their ports.
            let is_strict = ["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it));
            let colon = if is_strict { host.find(':') } else { host.rfind(':') };
            port(colon.map_or("", |colon| &host[colon..])).or_else(|| name_error(host))
        }
    }
}

/// In brackets there is an address of version 6.
fn literal_error(address: &str) -> Option<String> {
    if let Some(why) = go_address::fault(address) {
        return Some(format!("invalid host: {why}"));
    }
    let is_version_4 = !address.contains(':');
    is_version_4.then(|| "invalid IP-literal".to_owned())
}

fn name_error(name: &str) -> Option<String> {
    for (at, c) in name.char_indices() {
        match c {
            '%' => {
                let escape = name.get(at..at + 3).unwrap_or(&name[at..]);
                // Only what is beyond ASCII may be escaped here, and the percent sign.
                let is_high = matches!(
                    escape.as_bytes().get(1),
                    Some(b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
                );
                let is_hex =
                    escape.len() == 3 && escape.bytes().skip(1).all(|it| it.is_ascii_hexdigit());
                if !is_hex || !(is_high || escape == "%25") {
                    return Some(format!("invalid URL escape {}", quote(escape)));
                }
            }
            ' ' | '\\' | '^' | '`' | '{' | '|' | '}' | '#' | '/' | '?' | '@' => {
                return Some(format!("invalid character {} in host name", quote(&c.to_string())));
            }
            _ => {}
        }
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
    fn hosts_are_those_of_go() {
        for good in [
            "http://[::1]:80/",
            "http://a:80",
            "http://a:",
            "postgres://a:1,b:2/",
            "http://u:p@h/",
            "http://[fe80::1%25en0]/",
            "http://%e4/",
            "//x",
            "http://",
        ] {
            assert_eq!(request_error(good), None, "{good}");
        }
        for (bad, why) in [
            ("http://::1", "invalid port \"::1\" after host"),
            ("http://a:b:80", "invalid port \":b:80\" after host"),
            ("http://localhost:80:80/", "invalid port \":80:80\" after host"),
            ("http://a[b]", "invalid IP-literal"),
            ("http://[1.2.3.4]", "invalid IP-literal"),
            ("http://[x]", "invalid host: ParseAddr(\"x\"): unable to parse IP"),
            ("http://[::1", "missing ']' in host"),
            ("http://%41/", "invalid URL escape \"%41\""),
            ("http://a b/", "invalid character \" \" in host name"),
            ("http://a<@h/", "net/url: invalid userinfo"),
        ] {
            assert_eq!(request_error(bad), Some(format!("parse {}: {why}", quote(bad))), "{bad}");
        }
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
