//! `/api/v1/activity`: what happened, over all operators, the newest first.
//!
//! A reader with permissions in one namespace alone names that and the operator, as everywhere: the filter then leaves
//! out everything else, before anything is counted.

mod sentence;
mod view;

use std::time::{Duration, SystemTime};

use actix_web::web::{Data, Json, Query, block};
use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;

#[cfg(any(feature = "dashboard", feature = "mcp"))]
pub(super) use self::sentence::{dropped, sentence};
pub(super) use self::view::ActivityList;
use super::{
    endpoint::Parameter,
    page::{CONTINUE, Following, LIMIT, PageQuery},
    state::WebState,
    status::Refused,
};
use crate::{
    board::{ActivityFilter, ActivityKind},
    object::ObjectKey,
};

/// The query of a reader. An absent or empty parameter does not restrict.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ActivityQuery {
    #[serde(default)]
    pub(super) operator: String,
    #[serde(default)]
    pub(super) namespace: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) q: String,
    #[serde(default)]
    pub(super) since: String,
}

pub(super) const OPERATOR: Parameter =
    Parameter::text("operator", "only what is about this operator or its parents");
pub(super) const NAMESPACE: Parameter =
    Parameter::text("namespace", "only what is about parents in this namespace");
pub(super) const KIND: Parameter = Parameter::text(
    "kind",
    "some of these, separated by commas: created, adopted, updated, recreated, deleted, repaired, held, allowed, \
     released, failing, recovered, paused, resumed, leader, registered, unregistered, denied, rejected",
);
pub(super) const TEXT: Parameter = Parameter::text(
    "q",
    "only entries with this text in the names, the fields, the user or the reason, ignoring case",
);
pub(super) const SINCE: Parameter = Parameter::text(
    "since",
    "only what happened since then: a time of RFC 3339, or a span such as 30s, 15m, 2h or 1d",
);

pub(super) const PARAMETERS: &[Parameter] =
    &[OPERATOR, NAMESPACE, KIND, TEXT, SINCE, LIMIT, CONTINUE];

pub(super) async fn list(
    query: Query<ActivityQuery>,
    page: Query<PageQuery>,
    state: Data<WebState>,
) -> Result<Json<ActivityList>, Refused> {
    let filter = query.check(SystemTime::now())?;
    let wanted = page.check(format!("activity {query:?}"))?;
    let (before, limit) = (wanted.after.as_ref().map(number).transpose()?, wanted.limit);
    // Folding everything must not block other requests.
    let (board, member) = (state.board.clone(), state.board.group().map(|group| group.member));
    let found = block(move || board.activity(&filter, before, limit)).await;
    let found = found.map_err(|_| Refused::Stopping)?;
    let last = found.lines.last().map(|line| ObjectKey::cluster(&line.number.to_string()));
    let following = match found.remaining {
        0 => Following::Nothing,
        remaining => Following::About(remaining),
    };
    let metadata = wanted.followed_by(last.as_ref(), found.lines.len(), following);
    Ok(Json(ActivityList::new(&found, metadata).of(member)))
}

/// The number in a token, which has the form of a name.
fn number(key: &ObjectKey) -> Result<u64, Refused> {
    position(&key.name)
}

/// The number of the last line of the page before.
pub(super) fn position(text: &str) -> Result<u64, Refused> {
    text.parse().map_err(|_| {
        Refused::BadRequest("continue: the token is invalid; request the first page again".into())
    })
}

impl ActivityQuery {
    /// # Errors
    /// For a kind that does not exist, and a time that cannot be read.
    pub(super) fn check(&self, now: SystemTime) -> Result<ActivityFilter, Refused> {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let kinds = self.kind.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(ActivityFilter {
            operator: given(&self.operator),
            namespace: given(&self.namespace),
            kinds: kinds.map(kind).collect::<Result<_, _>>()?,
            text: given(&self.q),
            since: given(&self.since).map(|text| since(&text, now)).transpose()?,
        })
    }
}

fn kind(name: &str) -> Result<ActivityKind, Refused> {
    let found = ActivityKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let names = ActivityKind::ALL.map(ActivityKind::name).join(", ");
        Refused::BadRequest(format!("kind: `{name}` is not one of {names}"))
    })
}

fn since(text: &str, now: SystemTime) -> Result<SystemTime, Refused> {
    let at = text.parse::<Timestamp>().ok().map(SystemTime::from);
    at.or_else(|| now.checked_sub(span(text)?)).ok_or_else(|| {
        Refused::BadRequest(format!(
            "since: `{text}` is neither a time, such as 2026-01-31T12:00:00Z, nor a span, such as 30s, 15m, 2h or 1d"
        ))
    })
}

fn span(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    count.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_selects_since_a_time_or_for_a_span() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(48);
        let selected = |text: &str| {
            let query = ActivityQuery { since: text.to_owned(), ..ActivityQuery::default() };
            let since = query.check(now).ok()?.since?;
            since.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
        };
        assert_eq!(selected("30s"), Some(48 * 3600 - 30));
        assert_eq!(selected("15m"), Some(48 * 3600 - 900));
        assert_eq!(selected("2h"), Some(46 * 3600));
        assert_eq!(selected("1d"), Some(24 * 3600));
        assert_eq!(selected("1970-01-01T01:00:00Z"), Some(3600));
        for bad in ["", "1", "h", "-1h", "1w", "1.5h", "yesterday", "99999999999999999999d", "ä"] {
            assert_eq!(selected(bad), None, "{bad}");
        }
    }

    #[test]
    fn unknown_kinds_are_refused_and_known_ones_listed() {
        let check = |kind: &str| {
            let query = ActivityQuery { kind: kind.to_owned(), ..ActivityQuery::default() };
            query.check(SystemTime::UNIX_EPOCH)
        };
        let kinds = check("created, denied,").unwrap().kinds;
        assert!(kinds.into_iter().eq([ActivityKind::Created, ActivityKind::Denied]));
        let refused = check("created,written").unwrap_err().to_string();
        assert!(refused.contains("`written` is not one of created, adopted"), "{refused}");
        assert!(ActivityKind::ALL.iter().all(|kind| KIND.meaning.contains(kind.name())));
    }
}
