//! The body of `POST .../pause`: why, and when the pause ends by itself. Pure, but for reading the body.

use std::time::{Duration, SystemTime};

use actix_web::web::Payload;
use k8s_openapi::jiff::{Span, SpanRelativeTo, Timestamp};
use serde::Deserialize;

use super::{
    body,
    endpoint::{Body, JSON, Parameter},
    status::Refused,
};
use crate::{
    board::{PauseEnd, PauseRequest},
    operator::MAX_REASON,
};

pub(super) const PAUSE: Body = Body {
    media_type: JSON,
    meaning: "why, and when the pause ends by itself; each may be missing, and the whole body may be empty. \
              At most 4096 bytes. Its type JSON proves that no form of another site sent it",
    fields: &[
        Parameter::text("reason", "why, in at most 512 characters"),
        Parameter::text(
            "until",
            "when it ends, in RFC 3339: `2026-12-01T10:00:00Z`; not with `for`",
        ),
        Parameter::text(
            "for",
            "after which time it ends, at most a year: `2h`, `1d 12h`; not with `until`",
        ),
    ],
};

const MAX_PAUSE: usize = 4096;
const LONGEST: Duration = Duration::from_hours(24 * 365);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PauseBody {
    reason: Option<String>,
    until: Option<String>,
    r#for: Option<String>,
}

pub(super) async fn read(payload: Payload) -> Result<PauseRequest, Refused> {
    Ok(read_with_text(payload).await?.0)
}

/// The request and its text, for other processes.
pub(super) async fn read_with_text(payload: Payload) -> Result<(PauseRequest, String), Refused> {
    let text = body::text(payload, MAX_PAUSE).await?;
    Ok((request(&text).map_err(Refused::BadRequest)?, text))
}

/// What a caller says who gives no body.
#[cfg(feature = "mcp")]
pub(super) fn given(reason: Option<&str>, span: Option<&str>) -> Result<PauseRequest, Refused> {
    let [reason, r#for] = [reason, span].map(|text| text.map(str::to_owned));
    checked(PauseBody { reason, until: None, r#for }).map_err(Refused::BadRequest)
}

fn request(body: &str) -> Result<PauseRequest, String> {
    checked(match body.trim() {
        "" => PauseBody::default(),
        body => serde_json::from_str(body).map_err(|error| format!("the body: {error}"))?,
    })
}

fn checked(PauseBody { reason, until, r#for }: PauseBody) -> Result<PauseRequest, String> {
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        return Err(format!("reason: it is longer than {MAX_REASON} characters"));
    }
    let end = match (until, r#for) {
        (Some(_), Some(_)) => return Err("until and for: give one of them".to_owned()),
        (Some(until), None) => Some(PauseEnd::At(at(&until)?)),
        (None, Some(span)) => Some(PauseEnd::After(after(&span)?)),
        (None, None) => None,
    };
    Ok(PauseRequest { reason, end })
}

fn at(until: &str) -> Result<SystemTime, String> {
    let at: Result<Timestamp, _> = until.trim().parse();
    at.map(SystemTime::from)
        .map_err(|_| format!("until: `{until}` is no time in RFC 3339, as 2026-12-01T10:00:00Z is"))
}

fn after(text: &str) -> Result<Duration, String> {
    let span = text.trim().parse::<Span>().ok();
    let span = span.and_then(|it| it.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let span = span.and_then(|span| Duration::try_from(span).ok());
    let is_right = |span: &Duration| !span.is_zero() && *span <= LONGEST;
    span.filter(is_right).ok_or_else(|| {
        format!(
            "for: `{text}` is no time of more than nothing and at most a year, as 2h and 1d are"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_says_why_and_until_when() {
        let hours = |hours| Some(PauseEnd::After(Duration::from_hours(hours)));
        let until = "2026-12-01T10:00:00Z".parse::<Timestamp>().unwrap().into();
        for (body, reason, end) in [
            ("", None, None),
            ("{}", None, None),
            (r#"{"reason": "why"}"#, Some("why"), None),
            (r#"{"for": "2h", "reason": "why"}"#, Some("why"), hours(2)),
            (r#"{"for": "1d 12h"}"#, None, hours(36)),
            (r#"{"for": "1w"}"#, None, hours(7 * 24)),
            (r#"{"until": "2026-12-01T11:00:00+01:00"}"#, None, Some(PauseEnd::At(until))),
        ] {
            let expected = PauseRequest { reason: reason.map(str::to_owned), end };
            assert_eq!(request(body), Ok(expected), "{body}");
        }
    }

    #[test]
    fn a_body_that_is_not_understood_is_refused() {
        let long = format!(r#"{{"reason": "{}"}}"#, "x".repeat(MAX_REASON + 1));
        for (body, field) in [
            ("[]", "the body"),
            ("yes", "the body"),
            (r#"{"resaon": "why"}"#, "`resaon`"),
            (r#"{"reason": 1}"#, "the body"),
            (&long, "reason"),
            (r#"{"until": "tomorrow"}"#, "until"),
            (r#"{"for": "soon"}"#, "for"),
            (r#"{"for": "0s"}"#, "for"),
            (r#"{"for": "-2h"}"#, "for"),
            (r#"{"for": "1 month"}"#, "for"),
            (r#"{"for": "9999d"}"#, "for"),
            (r#"{"for": "2h", "until": "2026-12-01T10:00:00Z"}"#, "one of them"),
        ] {
            let error = request(body).unwrap_err();
            assert!(error.contains(field), "{body}: {error}");
        }
    }
}
