//! Why a parent is not ready although everything is up to date.

use std::fmt;

use crate::{
    object::{Quoted, Redactor},
    plan::ChildId,
};

#[derive(Debug, Clone)]
pub(crate) enum NotReady {
    /// The handler reports it: the reason and the message of its condition.
    Handler(Quoted),
    /// Children are not ready: the first few, each with what it waits for, and how many more.
    Children { first: Vec<(ChildId, Quoted)>, more: usize },
}

impl NotReady {
    /// The same after redaction of the texts of others.
    #[must_use]
    pub(crate) fn shown(&self, redactor: &Redactor) -> Self {
        match self {
            Self::Handler(why) => Self::Handler(redactor.shown(why)),
            Self::Children { first, more } => {
                let shown = |(id, why): &(ChildId, Quoted)| (id.clone(), redactor.shown(why));
                Self::Children { first: first.iter().map(shown).collect(), more: *more }
            }
        }
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handler(why) => write!(f, "its handler reports {why}"),
            Self::Children { first, more } => {
                let named = first.iter().map(|(id, why)| format!("{id}: {why}"));
                let more = (*more > 0).then(|| format!("and {more} more"));
                f.write_str(&named.chain(more).collect::<Vec<_>>().join("; "))
            }
        }
    }
}
