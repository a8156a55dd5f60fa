//! Content negotiation with the `Accept` header: pure, by the rules of RFC 9110, 12.5.1.

use std::cmp::Reverse;

use actix_web::{
    http::header::{self, HeaderMap, Quality, QualityItem},
    mime::{self, Mime},
};

use super::endpoint::JSON;

pub(super) const HTML: &str = "text/html";

/// Whether a client is a browser that opens a page.
pub(super) fn is_browser(headers: &HeaderMap) -> bool {
    prefers(headers, HTML, JSON)
}

/// Whether a client prefers `wanted` to the default: it has a higher quality, or the same and is
/// named more exactly or earlier.
pub(super) fn prefers(headers: &HeaderMap, wanted: &str, default: &str) -> bool {
    let ranges = header::from_comma_delimited(headers.get_all(header::ACCEPT)).unwrap_or_default();
    preference(&ranges, wanted) > preference(&ranges, default)
}

/// The preference for a media type: `None` if it is not named or not acceptable.
fn preference(
    ranges: &[QualityItem<Mime>],
    media_type: &str,
) -> Option<(Quality, usize, Reverse<usize>)> {
    let fitting = ranges.iter().enumerate().filter_map(|(position, range)| {
        Some((exactness(&range.item, media_type)?, Reverse(position), range.quality))
    });
    // The most exact range decides: `text/html;q=0, */*` accepts anything but HTML.
    let (exactness, position, quality) = fitting.max()?;
    (quality > Quality::ZERO).then_some((quality, exactness, position))
}

/// How exactly a range names a media type, if it does; parameters are ignored.
fn exactness(range: &Mime, media_type: &str) -> Option<usize> {
    let (ty, _) = media_type.split_once('/')?;
    match (range.type_(), range.subtype()) {
        (mime::STAR, mime::STAR) => Some(0),
        (named, mime::STAR) if named == ty => Some(1),
        _ => (range.essence_str() == media_type).then_some(2),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn html(lines: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::ACCEPT, HeaderValue::from_str(line).unwrap());
        }
        prefers(&headers, "text/html", "application/json")
    }

    #[test]
    fn quality_decides_then_exactness_then_order() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("text/html", true),
            ("TEXT/HTML; charset=utf-8", true),
            ("text/html, */*; q=0.01", true),
            ("text/html, */*", true),
            ("text/*, application/*;q=0.5", true),
            ("text/html, application/json", true),
            ("application/json, text/html", false),
            ("application/json, text/html;q=0.9", false),
            ("text/html;q=0.1, application/json", false),
            ("application/json;q=0.1, text/html;q=0.2", true),
            ("text/html;q=0", false),
            ("text/html;q=0, */*", false),
            ("*/*, text/html;q=0.5", false),
            ("*/*", false),
            ("application/json, text/plain, */*", false),
            ("text/htmlx", false),
            ("application/x; what=text/html", false),
            ("text/html+xml", false),
            ("text/html;q=loud, application/json", false),
            (",;nonsense", false),
            ("", false),
        ] {
            assert_eq!(html(&[accept]), expected, "{accept}");
        }
        assert!(!html(&[]));
        assert!(html(&["application/json;q=0.5", "text/html"]), "every line counts");
    }

    #[test]
    fn any_header_prefers_one_or_the_other() {
        const TOKENS: [&str; 14] = [
            "text/html",
            "application/json",
            "*/*",
            "*",
            "/",
            ",",
            ";",
            "q=",
            "0.5",
            "1.001",
            "NaN",
            " ",
            "charset=utf-8",
            "\"",
        ];
        operetta_harness::random::texts(&TOKENS, |text| {
            if let Ok(value) = HeaderValue::from_str(text) {
                let mut headers = HeaderMap::new();
                headers.append(header::ACCEPT, value);
                let _ = prefers(&headers, "text/html", "application/json");
            }
        });
    }
}
