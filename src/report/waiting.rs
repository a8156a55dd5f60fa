//! What a reconcile leaves undone, as values; the texts are made last.

use crate::{
    journal::Wait,
    plan::{ChildId, WaitingReason},
};

/// What is not done yet, and why.
#[derive(Debug, Clone)]
pub(super) enum Waiting {
    /// A step of the parent itself; the message.
    Parent(String),
    /// The deletions that wait for an approval; the message.
    Deletions(String),
    Child(ChildId, Wait),
}

/// All that is not done yet, in the order of the facts.
#[derive(Debug, Default)]
pub(crate) struct Waits(Vec<Waiting>);

/// Whether all that waits is of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Only {
    Nothing,
    /// The deletions that wait for an approval.
    Deletions,
    /// Deletions that wait until every write is accepted.
    Writes,
    /// Children that wait for the readiness of others.
    Readiness,
    /// Anything else.
    Other,
}

impl Waits {
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.0.push(waiting);
    }

    pub(super) fn all(&self) -> &[Waiting] {
        &self.0
    }

    /// A text for each of these children that waits.
    pub(super) fn texts_of(&self, children: &[ChildId]) -> Vec<String> {
        let texts = self.0.iter().filter_map(|waiting| match waiting {
            Waiting::Child(id, why) if children.contains(id) => Some(format!("{id}: {why}")),
            Waiting::Child(..) | Waiting::Parent(_) | Waiting::Deletions(_) => None,
        });
        texts.collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The children that are not deleted because their type is not synced.
    pub(super) fn unsynced(&self) -> Vec<&ChildId> {
        let unsynced = self.0.iter().filter_map(|waiting| match waiting {
            Waiting::Child(child, Wait::Planned(WaitingReason::TypeNotSynced)) => Some(child),
            Waiting::Child(..) | Waiting::Parent(_) | Waiting::Deletions(_) => None,
        });
        unsynced.collect()
    }

    pub(super) fn only(&self) -> Only {
        let mut kinds = self.0.iter().map(Waiting::kind);
        let Some(first) = kinds.next() else { return Only::Nothing };
        if kinds.all(|kind| kind == first) { first } else { Only::Other }
    }

    /// A text for each; many children that wait for the same have one.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut shared: Vec<(&Wait, Vec<&ChildId>)> = Vec::new();
        for waiting in &self.0 {
            match waiting {
                Waiting::Parent(text) | Waiting::Deletions(text) => texts.push(text.clone()),
                Waiting::Child(child, why) if why.is_for_readiness() => {
                    match shared.iter_mut().find(|(known, _)| *known == why) {
                        Some((_, children)) => children.push(child),
                        None => shared.push((why, vec![child])),
                    }
                }
                Waiting::Child(child, why) => texts.push(format!("{child}: {why}")),
            }
        }
        texts.extend(shared.iter().map(|(why, children)| of_all(why, children)));
        texts
    }
}

impl Waiting {
    fn kind(&self) -> Only {
        match self {
            Self::Deletions(_) => Only::Deletions,
            Self::Child(_, Wait::Writes) => Only::Writes,
            Self::Child(_, why) if why.is_for_readiness() => Only::Readiness,
            Self::Child(..) | Self::Parent(_) => Only::Other,
        }
    }
}

/// `b, as each of 2 more, waits since .. for a: ..`
fn of_all(why: &Wait, children: &[&ChildId]) -> String {
    let what = why.of_several();
    match children {
        [] => String::new(),
        [only] => format!("{only} {what}"),
        [first, more @ ..] => format!("{first}, as each of {} more, {what}", more.len()),
    }
}
