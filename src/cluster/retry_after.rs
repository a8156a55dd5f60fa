//! Parses the header `Retry-After`: a number of seconds, or a time by the server's clock. The caller
//! decides how long it really waits.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, header};

/// The requested delay; zero for a time in the past. A time counts from the `Date` of the same answer if
/// there is one, because clocks differ, else from `now`.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let asked = text(headers, header::RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text| httpdate::parse_http_date(text).ok();
    let sent = text(headers, header::DATE).and_then(date).unwrap_or(now);
    Some(date(asked)?.duration_since(sent).unwrap_or_default())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_requested_in_seconds_or_as_a_time() {
        const NOON: &str = "Fri, 01 Jan 2027 12:00:00 GMT";
        const LATER: &str = "Fri, 01 Jan 2027 12:00:30 GMT";
        let now = httpdate::parse_http_date("Fri, 01 Jan 2027 11:59:00 GMT").unwrap();
        for (asked, sent, expected) in [
            ("7", None, Some(7)),
            (" 7 ", Some(NOON), Some(7)),
            (LATER, Some(NOON), Some(30)),
            (LATER, None, Some(90)),
            ("Friday, 01-Jan-27 12:00:30 GMT", Some(NOON), Some(30)),
            (NOON, Some(LATER), Some(0)),
            (LATER, Some("odd"), Some(90)),
            ("soon", Some(NOON), None),
            ("-1", None, None),
        ] {
            let mut headers = HeaderMap::from_iter([(header::RETRY_AFTER, asked.parse().unwrap())]);
            headers.extend(sent.map(|sent| (header::DATE, sent.parse().unwrap())));
            let expected = expected.map(Duration::from_secs);
            assert_eq!(retry_after(&headers, now), expected, "{asked} {sent:?}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn any_header_asks_for_a_delay_or_for_none() {
        const TOKENS: [&str; 12] = [
            "7",
            "-",
            "18446744073709551616",
            " ",
            "Fri, 01 Jan 2027",
            " 12:00:00",
            " GMT",
            ":",
            ",",
            "99",
            "Jan",
            "Friday",
        ];
        operetta_harness::random::texts(&TOKENS, |text| {
            let Ok(asked) = text.parse::<http::HeaderValue>() else { return };
            let mut headers = HeaderMap::new();
            headers.insert(header::DATE, asked.clone());
            headers.insert(header::RETRY_AFTER, asked);
            let _ = retry_after(&headers, SystemTime::UNIX_EPOCH);
        });
    }
}
