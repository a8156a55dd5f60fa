//! Why a parent is not ready although everything is up to date.

use crate::{
    object::{Quoted, Redactor},
    plan::ChildId,
};

#[derive(Debug)]
pub(crate) enum NotReady {
    /// The handler reports it: the reason and the message of its condition.
    Handler(Quoted),
    /// Children are not ready: the first few, each with what it waits for, and how many more.
    Children { first: Vec<(ChildId, Quoted)>, more: usize },
}

impl NotReady {
    /// The text after redaction.
    pub(crate) fn shown(&self, redactor: &Redactor) -> String {
        match self {
            Self::Handler(why) => format!("its handler reports {}", redactor.shown(why)),
            Self::Children { first, more } => {
                let named = first.iter().map(|(id, why)| format!("{id}: {}", redactor.shown(why)));
                let more = (*more > 0).then(|| format!("and {more} more"));
                named.chain(more).collect::<Vec<_>>().join("; ")
            }
        }
    }
}
