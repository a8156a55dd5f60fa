//! The parts of an entry that are shown on their own: a reconcile may create one child and repair another.

use super::{
    entry::{Entry, LeaderChange, What, is_write},
    kind::ActivityKind,
};
use crate::{
    history::{Decided, Decision},
    object::ObjectKey,
    operator::OperatorName,
};

#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) entry: &'a Entry,
    /// Unique, and grows with the entries.
    pub(super) number: u64,
    pub(super) kind: ActivityKind,
    /// Whether others removed the children, of repaired ones.
    pub(super) is_removed: bool,
    /// The field manager, the user or the reason, which entries of one line share.
    pub(super) who: Option<&'a str>,
    pub(super) children: Vec<&'a Decision>,
    /// How many further children there are, as far as their names are not known.
    pub(super) unnamed: usize,
    pub(super) detail: Option<&'a str>,
    pub(super) leader: Option<&'a LeaderChange>,
}

/// More than the decisions of a reconcile.
const PIECES: u64 = 64;

pub(super) fn pieces(entry: &Entry) -> Vec<Piece<'_>> {
    match &entry.what {
        What::Wrote { decisions, omitted, .. } => written(entry, decisions, *omitted),
        what => vec![single(entry, what)],
    }
}

impl<'a> Piece<'a> {
    fn new(entry: &'a Entry, at: u64, kind: ActivityKind) -> Self {
        let (is_removed, who, children, unnamed, detail, leader) = <_>::default();
        let number = entry.number.saturating_mul(PIECES) + at;
        Self { entry, number, kind, is_removed, who, children, unnamed, detail, leader }
    }

    pub(super) fn parent(&self) -> Option<&'a ObjectKey> {
        self.entry.what.parent()
    }

    pub(super) fn operators(&self) -> &'a [OperatorName] {
        match &self.entry.what {
            What::Leader { operators, .. } => operators,
            _ => self.entry.operator.as_slice(),
        }
    }

    /// Whether a text of it contains this text in small letters.
    pub(super) fn contains(&self, text: &str) -> bool {
        let has = |shown: &str| shown.to_lowercase().contains(text);
        self.operators().iter().any(|name| has(name.as_str()))
            || self.parent().is_some_and(|key| has(&key.to_string()))
            || self.who.is_some_and(has)
            || self.detail.is_some_and(has)
            || self
                .children
                .iter()
                .any(|child| has(&child.child) || child.paths.iter().any(|path| has(path)))
    }
}

fn written<'a>(entry: &'a Entry, decisions: &'a [Decision], omitted: usize) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    for decision in decisions.iter().filter(|decision| is_write(decision)) {
        let (kind, is_removed, who) = sort_of(decision);
        let is_it = |piece: &&mut Piece<'_>| {
            piece.kind == kind && piece.is_removed == is_removed && piece.who == who
        };
        if let Some(piece) = pieces.iter_mut().find(is_it) {
            piece.children.push(decision);
            continue;
        }
        let piece = Piece::new(entry, pieces.len() as u64, kind);
        pieces.push(Piece { is_removed, who, children: vec![decision], ..piece });
    }
    // Writes come last, so these are writes, and most likely of the same kind.
    if let Some(last) = pieces.last_mut() {
        last.unnamed = omitted;
    }
    pieces
}

fn sort_of(decision: &Decision) -> (ActivityKind, bool, Option<&str>) {
    let kind = match decision.what {
        Decided::Created => ActivityKind::Created,
        Decided::Adopted => ActivityKind::Adopted,
        Decided::Recreated => ActivityKind::Recreated,
        Decided::Deleted => ActivityKind::Deleted,
        _ => ActivityKind::Updated,
    };
    match &decision.drift {
        Some(drift) => (ActivityKind::Repaired, drift.to.is_none(), drift.manager.as_deref()),
        None => (kind, false, None),
    }
}

fn single<'a>(entry: &'a Entry, what: &'a What) -> Piece<'a> {
    let piece = |kind| Piece::new(entry, 0, kind);
    match what {
        What::Wrote { .. } => piece(ActivityKind::Updated),
        What::Held { children, why, .. } => {
            Piece { unnamed: *children, detail: why.as_deref(), ..piece(ActivityKind::Held) }
        }
        What::Allowed { by, .. } => Piece { who: by.as_deref(), ..piece(ActivityKind::Allowed) },
        What::Released { children, .. } => {
            Piece { unnamed: *children, ..piece(ActivityKind::Released) }
        }
        What::Failing { reason, message, .. } => Piece {
            who: Some(reason.name()),
            detail: Some(message),
            ..piece(ActivityKind::Failing)
        },
        What::Recovered { .. } => piece(ActivityKind::Recovered),
        What::Paused { by, why, .. } => {
            Piece { who: by.as_deref(), detail: why.as_deref(), ..piece(ActivityKind::Paused) }
        }
        What::Resumed { by, .. } => Piece { who: by.as_deref(), ..piece(ActivityKind::Resumed) },
        What::Leader { lease, change, .. } => {
            Piece { detail: Some(lease), leader: Some(change), ..piece(ActivityKind::Leader) }
        }
        What::Registered => piece(ActivityKind::Registered),
        What::Unregistered => piece(ActivityKind::Unregistered),
        What::Denied { user, access } => {
            Piece { who: Some(user), detail: Some(access), ..piece(ActivityKind::Denied) }
        }
        What::Rejected { user, why, .. } => {
            Piece { who: Some(user), detail: Some(why), ..piece(ActivityKind::Rejected) }
        }
    }
}
