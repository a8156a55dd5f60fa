//! An Event about a parent, before its repetitions are counted.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::{
    history::Problem,
    journal::{Failure, ReturnedEvent},
    reply::EventKind,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) kind: EventKind,
    /// One `CamelCase` word.
    pub(crate) reason: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) by: Author,
}

/// Whose Event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    Framework,
    Handler {
        /// Whether the response is the first in this process: an earlier one may have recorded the Event.
        is_first: bool,
    },
}

impl Announcement {
    pub(super) fn warning(reason: &'static str, message: String) -> Self {
        Self::of_framework(EventKind::Warning, reason, message)
    }

    pub(super) fn normal(reason: &'static str, message: String) -> Self {
        Self::of_framework(EventKind::Normal, reason, message)
    }

    fn of_framework(kind: EventKind, reason: &'static str, message: String) -> Self {
        Self { kind, reason: reason.into(), message, by: Author::Framework }
    }

    pub(super) fn of_handler(event: &ReturnedEvent, is_first: bool) -> Self {
        let ReturnedEvent { kind, reason, message } = event;
        let (reason, message) = (reason.clone().into(), message.to_string());
        Self { kind: *kind, reason, message, by: Author::Handler { is_first } }
    }

    /// `problems` are those of the failure.
    pub(crate) fn of_failure(failure: &Failure, problems: &[Problem]) -> Self {
        let order = Problem::order(problems);
        Self::warning(failure.reason(), format!("{}{failure}{order}", failure.outlook()))
    }
}

/// The same in every process of one program.
pub(crate) fn number_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
