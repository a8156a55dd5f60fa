//! Lists in pages: `?limit=` and `?continue=`.
//!
//! A token contains the position in a list, and the list with its filter: for another list it is
//! refused, because the pages would not fit together. It is not secret and grants nothing.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    endpoint::{Form, Parameter},
    members::Missing,
    status::Refused,
};
use crate::object::ObjectKey;

#[derive(Debug, Deserialize)]
pub(super) struct PageQuery {
    limit: Option<String>,
    r#continue: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageRequest {
    /// The list, with its filter.
    list: String,
    pub(super) limit: usize,
    pub(super) after: Option<ObjectKey>,
    /// How many were on the previous pages.
    seen: usize,
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    pub(super) metadata: ListMeta,
}

/// How a list continues, and what it lacks.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    /// The token for the next page, to be sent as `?continue=` with the same filters; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<String>,
    /// About how many follow; absent if none do, or if the number is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_item_count: Option<usize>,
    /// The processes whose parents the list lacks, where several share the parents; absent if it is complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Missing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Following {
    Nothing,
    About(usize),
    /// Some do, but they are not counted.
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Token {
    list: String,
    after: String,
    seen: usize,
}

impl ListMeta {
    /// Of a list that does not continue.
    pub(super) fn cut(remaining: usize) -> Self {
        let remaining_item_count = Some(remaining).filter(|remaining| *remaining > 0);
        Self { remaining_item_count, ..Self::default() }
    }

    /// Without the parents of these.
    pub(super) fn lacking(self, missing: Vec<Missing>) -> Self {
        Self { missing, ..self }
    }
}

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    form: Form::WholeNumber,
    meaning: "the maximum number of items, 500 by default and at most 5000",
};

pub(super) const CONTINUE: Parameter =
    Parameter::text("continue", "`metadata.continue` of the previous page, with the same filters");

pub(super) const DEFAULT_LIMIT: usize = 500;
/// Larger limits are reduced to this, as in Kubernetes: `continue` shows that more follows.
pub(super) const MAX_LIMIT: usize = 5000;

impl PageQuery {
    /// The requested page of a list; `list` identifies it, with its filter.
    pub(super) fn check(&self, list: String) -> Result<PageRequest, Refused> {
        let limit = self.limit()?;
        let Some(text) = self.r#continue.as_deref().filter(|token| !token.is_empty()) else {
            return Ok(PageRequest { list, limit, after: None, seen: 0 });
        };
        let Token { list: given_for, after, seen } = Token::read(text).ok_or_else(invalid_token)?;
        if given_for != list {
            return Err(Refused::BadRequest(
                "continue: the token belongs to another list or to other filters; request the first \
                 page again"
                    .to_owned(),
            ));
        }
        let after = Some(after.parse().map_err(|_| invalid_token())?);
        Ok(PageRequest { list, limit, after, seen })
    }

    fn limit(&self) -> Result<usize, Refused> {
        let Some(text) = &self.limit else { return Ok(DEFAULT_LIMIT) };
        match text.parse::<u64>() {
            // In Kubernetes zero means no limit.
            Ok(0) => Ok(MAX_LIMIT),
            Ok(limit) => Ok(usize::try_from(limit).unwrap_or(MAX_LIMIT).min(MAX_LIMIT)),
            Err(_) => Err(Refused::BadRequest(format!("limit: `{text}` is not a whole number"))),
        }
    }
}

impl PageRequest {
    /// How many follow a page with more after it, if there are `total` on all pages.
    pub(super) fn following(&self, on_page: usize, total: Option<usize>) -> Following {
        let Some(total) = total else { return Following::Unknown };
        let seen = self.seen.saturating_add(on_page);
        // Some may be gone meanwhile, but at least one more was seen.
        Following::About(total.saturating_sub(seen).max(1))
    }

    pub(super) fn followed_by(
        self,
        last: Option<&ObjectKey>,
        on_page: usize,
        following: Following,
    ) -> ListMeta {
        let Some(last) = last.filter(|_| following != Following::Nothing) else {
            return ListMeta::default();
        };
        let seen = self.seen.saturating_add(on_page);
        let token = Token { list: self.list, after: last.to_string(), seen };
        let remaining_item_count = match following {
            Following::About(count) => Some(count),
            Following::Nothing | Following::Unknown => None,
        };
        ListMeta { r#continue: Some(token.write()), remaining_item_count, missing: Vec::new() }
    }
}

impl Token {
    fn write(&self) -> String {
        let json = serde_json::to_vec(self).expect("texts and a number are JSON");
        URL_SAFE_NO_PAD.encode(json)
    }

    fn read(text: &str) -> Option<Self> {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }
}

fn invalid_token() -> Refused {
    Refused::BadRequest("continue: the token is invalid; request the first page again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(limit: Option<&str>, token: Option<String>) -> PageQuery {
        PageQuery { limit: limit.map(str::to_owned), r#continue: token }
    }

    fn limit(text: &str) -> Option<usize> {
        asked(Some(text), None).check(String::new()).ok().map(|page| page.limit)
    }

    fn token_after(key: &ObjectKey) -> Option<String> {
        let first = asked(None, None).check("pods".to_owned()).unwrap();
        first.followed_by(Some(key), 2, Following::Unknown).r#continue
    }

    #[test]
    fn limits_are_reduced_to_the_maximum_and_invalid_ones_refused() {
        assert_eq!(limit("7"), Some(7));
        assert_eq!(limit("0"), Some(MAX_LIMIT));
        assert_eq!(limit("18446744073709551615"), Some(MAX_LIMIT));
        for bad in ["", "-1", "x", "1.5", "18446744073709551616"] {
            assert_eq!(limit(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_token_is_valid_only_for_its_list() {
        let key = ObjectKey::namespaced("ns", "a");
        let token = token_after(&key);
        let page = asked(None, token.clone()).check("pods".to_owned()).unwrap();
        assert_eq!((page.after, page.seen), (Some(key), 2));
        assert!(asked(None, token).check("pods?namespace=ns".to_owned()).is_err());
    }

    #[test]
    fn an_invalid_token_is_refused() {
        let url_safe = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for bad in [
            "a".to_owned(),
            "ns/a".to_owned(),
            "\u{0}".to_owned(),
            url_safe("{}"),
            url_safe(r#"{"list":"pods","after":"a/b/c","seen":1}"#),
            url_safe(r#"{"list":"pods","after":"a","seen":-1}"#),
        ] {
            assert!(asked(None, Some(bad.clone())).check("pods".to_owned()).is_err(), "{bad}");
        }
        let empty = asked(None, Some(String::new())).check("pods".to_owned()).unwrap();
        assert_eq!(empty.after, None);
    }

    #[test]
    fn the_remaining_count_is_never_zero_while_more_follow() {
        let page = || asked(None, None).check(String::new()).unwrap();
        assert_eq!(page().following(3, Some(5)), Following::About(2));
        assert_eq!(page().following(3, Some(3)), Following::About(1));
        assert_eq!(page().following(3, None), Following::Unknown);
        let key = ObjectKey::cluster("a");
        let end = page().followed_by(Some(&key), 3, Following::Nothing);
        assert_eq!((end.r#continue, end.remaining_item_count), (None, None));
    }
}
