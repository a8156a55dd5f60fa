//! What an answer lacks, and why. Pure.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{board::Group, web::peers::PeerError};

/// A member of the group whose parents an answer lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::web) struct Missing {
    /// As its Lease is named; absent for parents for which no process works yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    why: String,
}

/// Why a member has no share in an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoShare {
    #[error("its Lease was edited, and does not say where it answers")]
    Edited,
    #[error("it does not say where it answers: start it with `--sharded-url`")]
    NoUrl,
    #[error(transparent)]
    Unasked(#[from] PeerError),
    #[error("it answered {code}: {message}")]
    Refused { code: u16, message: String },
    #[error("its answer cannot be read, as that of another version: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl Missing {
    pub(super) fn new(member: &str, why: &NoShare) -> Self {
        Self { member: Some(member.to_owned()), why: why.to_string() }
    }

    /// The same of a command that it did not execute.
    pub(in crate::web) fn without_command(&self) -> String {
        let Self { member, why } = self;
        format!("not in {}: {why}", member.as_deref().unwrap_or_default())
    }

    /// The parents for which no process works yet.
    pub(super) fn of_nobody(group: &Group) -> Option<Self> {
        let unowned = group.unowned.len();
        let why = format!("no process works for {unowned} of the 64 buckets of parents yet");
        (unowned > 0).then_some(Self { member: None, why })
    }
}

/// As a sentence.
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { member, why } = self;
        match member {
            Some(member) => {
                write!(f, "{member} did not answer: its parents are not shown. The reason: {why}.")
            }
            None => write!(f, "Some parents are not shown: {why}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::Buckets;

    #[test]
    fn what_is_missing_is_named_in_a_sentence() {
        let missing = Missing::new("cook-1", &NoShare::NoUrl);
        assert_eq!(
            missing.to_string(),
            "cook-1 did not answer: its parents are not shown. The reason: it does not say where it answers: start it \
             with `--sharded-url`."
        );
        assert!(missing.without_command().starts_with("not in cook-1: it does not say"));
        assert_eq!(serde_json::to_value(missing).unwrap()["member"], "cook-1");
    }

    #[test]
    fn parents_for_which_no_process_works_are_missing() {
        let group = |unowned: &str| Group {
            name: "cooks".to_owned(),
            member: "cook-0".to_owned(),
            works: Buckets::NONE,
            closing: Buckets::NONE,
            watches: Buckets::NONE,
            declines: false,
            unowned: unowned.parse().unwrap(),
            selects_shards: None,
            others: Vec::new(),
        };
        assert_eq!(Missing::of_nobody(&group("")), None);
        let missing = Missing::of_nobody(&group("0-31")).unwrap();
        assert_eq!(
            missing.to_string(),
            "Some parents are not shown: no process works for 32 of the 64 buckets of parents yet."
        );
        assert!(serde_json::to_value(missing).unwrap().get("member").is_none());
    }
}
