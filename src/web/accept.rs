//! Which form of an answer the `Accept` header asks for: pure, by the rules of RFC 9110, 12.5.1.

use std::cmp::Reverse;

use actix_web::{
    http::header::{self, HeaderMap, Quality, QualityItem},
    mime::{self, Mime},
};

/// Whether somebody would rather have `wanted` than what is sent by itself: it is worth more to
/// them, or as much and is named more exactly, or before.
pub(super) fn prefers(headers: &HeaderMap, wanted: &str, by_itself: &str) -> bool {
    let ranges = header::from_comma_delimited(headers.get_all(header::ACCEPT)).unwrap_or_default();
    worth(&ranges, wanted) > worth(&ranges, by_itself)
}

/// What a media type is worth: nothing where it is not named, or is not wanted at all.
fn worth(
    ranges: &[QualityItem<Mime>],
    media_type: &str,
) -> Option<(Quality, usize, Reverse<usize>)> {
    let fitting = ranges.iter().enumerate().filter_map(|(place, range)| {
        Some((exactness(&range.item, media_type)?, Reverse(place), range.quality))
    });
    // The most exact range decides: `text/html;q=0, */*` is all but HTML.
    let (exactness, place, quality) = fitting.max()?;
    (quality > Quality::ZERO).then_some((quality, exactness, place))
}

/// How exactly a range names a media type, if it does; a parameter is not looked at.
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
    fn what_is_worth_more_is_preferred_and_of_equals_what_is_named_more_exactly_or_before() {
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
}
