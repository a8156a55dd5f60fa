//! Lists in pages: `?limit=` and `?continue=`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    endpoint::{Form, Parameter},
    status::Refused,
};
use crate::object::ObjectKey;

/// What a request may say about the page that it wants.
#[derive(Debug, Deserialize)]
pub(super) struct PageQuery {
    limit: Option<String>,
    r#continue: Option<String>,
}

/// Which page is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageRequest {
    pub(super) limit: usize,
    pub(super) after: Option<ObjectKey>,
}

/// A list, with how it goes on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    pub(super) metadata: ListMeta,
}

/// How a list goes on.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListMeta {
    /// To be sent as `?continue=` for what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<String>,
    /// How many more there are; missing when that is not known.
    #[serde(skip_serializing_if = "is_zero")]
    remaining_item_count: usize,
}

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    form: Form::WholeNumber,
    meaning: "how many at most, 500 if it is not said; at most 5000 are given at once",
};

pub(super) const CONTINUE: Parameter = Parameter {
    name: "continue",
    form: Form::Text,
    meaning: "`metadata.continue` of the page before",
};

const DEFAULT_LIMIT: usize = 500;
/// A larger limit is cut to this, as Kubernetes may do too: `continue` says that more follows.
const MAX_LIMIT: usize = 5000;

impl PageQuery {
    pub(super) fn check(&self) -> Result<PageRequest, Refused> {
        Ok(PageRequest { limit: self.limit()?, after: self.after()? })
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

    fn after(&self) -> Result<Option<ObjectKey>, Refused> {
        let token = self.r#continue.as_deref().filter(|token| !token.is_empty());
        token.map(str::parse).transpose().map_err(|_| {
            Refused::BadRequest("continue: not a token that a list here has given".to_owned())
        })
    }
}

impl ListMeta {
    pub(super) fn new(last: Option<&ObjectKey>, remaining: usize) -> Self {
        let goes_on = remaining > 0;
        let token = last.filter(|_| goes_on).map(ToString::to_string);
        Self { r#continue: token, remaining_item_count: remaining }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // Serde passes references.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Option<usize> {
        let query = PageQuery { limit: Some(text.to_owned()), r#continue: None };
        query.check().ok().map(|page| page.limit)
    }

    #[test]
    fn limits_are_bounded_and_odd_ones_refused() {
        assert_eq!(limit("7"), Some(7));
        assert_eq!(limit("0"), Some(MAX_LIMIT));
        assert_eq!(limit("18446744073709551615"), Some(MAX_LIMIT));
        for bad in ["", "-1", "x", "1.5", "18446744073709551616"] {
            assert_eq!(limit(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_continue_token_is_a_key() {
        let page = |token: &str| {
            PageQuery { limit: None, r#continue: Some(token.to_owned()) }.check().map(|p| p.after)
        };
        assert_eq!(page("").unwrap(), None);
        assert_eq!(page("ns/a").unwrap(), Some(ObjectKey::namespaced("ns", "a")));
        assert!(page("a/b/c").is_err() && page("/").is_err());
    }
}
