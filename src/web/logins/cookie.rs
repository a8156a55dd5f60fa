//! The session cookie: its name, and how it is read and set.
//!
//! `HttpOnly`: scripts cannot read it. `SameSite=Strict`: browsers do not send it with requests from
//! other sites. Over TLS it is `Secure`, and its name starts with `__Host-`, so that only this host can
//! set it. It has no `Max-Age`: it ends with the browser.

use actix_web::http::{
    Method,
    header::{self, HeaderMap},
};

use crate::web::origin::{FETCH_SITE, Protocol, is_proven, only_reads};

pub(super) fn name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http => "operetta",
        Protocol::Https => "__Host-operetta",
    }
}

/// Whether a cookie may authenticate a request. A page of another site cannot make the browser send it,
/// but one of another port of the same host can.
pub(in crate::web) fn may_use_cookie(method: &Method, headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE);
    let is_ours = sites.all(|site| *site == "same-origin" || *site == "none");
    is_ours && (only_reads(method) || is_proven(headers))
}

/// The id that a browser sends. Two cookies of the name are both ignored: one of them is foreign.
pub(super) fn session(headers: &HeaderMap, protocol: Protocol) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let mut ids =
        pairs.filter(|(key, _)| key.trim() == name(protocol)).map(|(_, value)| value.trim());
    ids.next().filter(|id| !id.is_empty() && ids.next().is_none())
}

/// The `Set-Cookie` value that sets it.
pub(in crate::web) fn kept(protocol: Protocol, id: &str) -> String {
    let secure = if protocol == Protocol::Https { "; Secure" } else { "" };
    format!("{}={id}; Path=/; HttpOnly; SameSite=Strict{secure}", name(protocol))
}

/// The `Set-Cookie` value that removes it.
pub(in crate::web) fn forgotten(protocol: Protocol) -> String {
    format!("{}; Max-Age=0", kept(protocol, ""))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn sent(lines: &[&str], protocol: Protocol) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, HeaderValue::from_str(line).unwrap());
        }
        session(&headers, protocol).map(str::to_owned)
    }

    #[test]
    fn a_cookie_is_read_only_if_its_name_is_unique() {
        for (lines, expected) in [
            (vec!["operetta=a"], Some("a")),
            (vec!["theme=dark; operetta=a; b=c"], Some("a")),
            (vec!["theme=dark", " operetta = a "], Some("a")),
            (vec!["operetta=a; operetta=b"], None),
            (vec!["operetta=a", "operetta=a"], None),
            (vec!["operetta="], None),
            (vec!["operetta"], None),
            (vec!["Operetta=a"], None),
            (vec!["__Host-operetta=a"], None),
            (vec![], None),
        ] {
            assert_eq!(sent(&lines, Protocol::Http).as_deref(), expected, "{lines:?}");
        }
        assert_eq!(sent(&["operetta=a"], Protocol::Https), None, "set in clear text");
        assert_eq!(sent(&["__Host-operetta=a"], Protocol::Https).as_deref(), Some("a"));
    }

    #[test]
    fn a_cookie_is_http_only_and_strict_and_over_tls_secure() {
        let clear = kept(Protocol::Http, "a");
        assert_eq!(clear, "operetta=a; Path=/; HttpOnly; SameSite=Strict");
        let secure = kept(Protocol::Https, "a");
        assert_eq!(secure, "__Host-operetta=a; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert!(forgotten(Protocol::Http).ends_with("; Max-Age=0"));
    }

    #[test]
    fn a_cookie_is_accepted_only_if_no_other_page_can_have_sent_it() {
        let origin = ("origin", "http://localhost");
        for (pairs, reads, commands) in [
            (vec![], true, false),
            (vec![(FETCH_SITE, "none")], true, false),
            (vec![(FETCH_SITE, "same-origin")], true, true),
            (vec![origin], true, true),
            (vec![(FETCH_SITE, "same-site"), origin], false, false),
            (vec![(FETCH_SITE, "cross-site")], false, false),
        ] {
            let headers: HeaderMap = pairs
                .iter()
                .map(|(name, value)| {
                    (HeaderName::from_static(name), HeaderValue::from_static(value))
                })
                .collect();
            assert_eq!(may_use_cookie(&Method::GET, &headers), reads, "{pairs:?}");
            assert_eq!(may_use_cookie(&Method::POST, &headers), commands, "{pairs:?}");
        }
    }
}
