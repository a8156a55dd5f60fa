//! Folds what happened at about the same time into lines: pure.
//!
//! Parts of one operator and kind, with one cause, form a group while no gap between them is longer than ten seconds,
//! for at most ten minutes. A group of many becomes one line; of a small one each part becomes a line, and equal parts are
//! counted. Groups begin at the oldest part, so that a new one does not change the lines of the others.

use std::{
    cmp::Reverse,
    collections::HashMap,
    time::{Duration, SystemTime},
};

use super::{
    kind::ActivityKind,
    line::{Line, Names},
    piece::Piece,
};
use crate::{object::ObjectKey, operator::OperatorName};

const GAP: Duration = Duration::from_secs(10);
const SPAN: Duration = Duration::from_mins(10);

/// What the parts of a group have in common.
#[derive(PartialEq, Eq, Hash)]
struct Common<'a> {
    operator: Option<&'a OperatorName>,
    kind: ActivityKind,
    is_removed: bool,
    who: Option<&'a str>,
}

/// What equal parts have in common, within a group.
type Same<'a> = (Option<&'a OperatorName>, Option<&'a ObjectKey>, Vec<&'a str>, Option<&'a str>);

struct Group<'a> {
    pieces: Vec<Piece<'a>>,
    first: SystemTime,
    last: SystemTime,
}

/// The lines, the newest first. The parts come oldest first.
pub(super) fn fold<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> Vec<Line> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut open: HashMap<Common<'a>, usize> = HashMap::new();
    for piece in pieces {
        let common = Common::of(&piece);
        if let Some(at) = open.get(&common).filter(|at| groups[**at].takes(&piece)) {
            groups[*at].add(piece);
        } else {
            open.insert(common, groups.len());
            groups.push(Group::of(piece));
        }
    }
    let mut lines: Vec<Line> = groups.into_iter().flat_map(Group::lines).collect();
    lines.sort_unstable_by_key(|line| Reverse(line.number));
    lines
}

impl<'a> Common<'a> {
    fn of(piece: &Piece<'a>) -> Self {
        let is_shared = matches!(piece.kind, ActivityKind::Registered | ActivityKind::Unregistered);
        let operator = piece.entry.operator.as_ref().filter(|_| !is_shared);
        let (kind, is_removed, who) = (piece.kind, piece.is_removed, piece.who);
        Self { operator, kind, is_removed, who }
    }
}

impl<'a> Group<'a> {
    fn of(piece: Piece<'a>) -> Self {
        let (first, last) = (piece.entry.first, piece.entry.last);
        Self { pieces: vec![piece], first, last }
    }

    fn takes(&self, piece: &Piece<'_>) -> bool {
        let since = |from: SystemTime| piece.entry.last.duration_since(from).unwrap_or_default();
        since(self.last) <= GAP && since(self.first) <= SPAN
    }

    fn add(&mut self, piece: Piece<'a>) {
        self.first = self.first.min(piece.entry.first);
        self.last = self.last.max(piece.entry.last);
        self.pieces.push(piece);
    }

    fn lines(self) -> Vec<Line> {
        let folds_from = self.pieces.first().map_or(usize::MAX, |it| it.kind.folds_from());
        let mut equal: Vec<Vec<Piece<'a>>> = Vec::new();
        let mut known: HashMap<Same<'a>, usize> = HashMap::new();
        for piece in self.pieces {
            let at = *known.entry(same(&piece)).or_insert(equal.len());
            if at == equal.len() {
                equal.push(Vec::new());
            }
            equal[at].push(piece);
        }
        if equal.len() < folds_from {
            return equal.iter().filter_map(|pieces| line(pieces, unnamed(pieces))).collect();
        }
        let unnamed = equal.iter().map(|pieces| unnamed(pieces)).sum();
        let all: Vec<Piece<'a>> = equal.into_iter().flatten().collect();
        line(&all, unnamed).into_iter().collect()
    }
}

fn same<'a>(piece: &Piece<'a>) -> Same<'a> {
    let children = piece.children.iter().map(|child| &*child.child).collect();
    (piece.entry.operator.as_ref(), piece.parent(), children, piece.detail)
}

/// The same children are unnamed in equal parts.
fn unnamed(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|piece| piece.unnamed).max().unwrap_or_default()
}

fn line(pieces: &[Piece<'_>], unnamed: usize) -> Option<Line> {
    let newest = pieces.iter().max_by_key(|piece| piece.number)?;
    let decisions = || pieces.iter().flat_map(|piece| piece.children.iter().copied());
    Some(Line {
        number: newest.number,
        began: pieces.iter().map(|piece| piece.number).min()?,
        kind: newest.kind,
        first: pieces.iter().map(|piece| piece.entry.first).min()?,
        last: pieces.iter().map(|piece| piece.entry.last).max()?,
        times: pieces.iter().map(|piece| piece.entry.times).sum(),
        operators: Names::of(pieces.iter().flat_map(Piece::operators)),
        parents: Names::of(pieces.iter().filter_map(Piece::parent)),
        children: Names::of(decisions().map(|one| &*one.child)).and(unnamed),
        fields: Names::of(decisions().flat_map(|one| &one.paths).map(String::as_str)),
        details: Names::of(pieces.iter().filter_map(|piece| piece.detail)),
        who: newest.who.map(str::to_owned),
        is_removed: newest.is_removed,
        leader: newest.leader.cloned(),
    })
}

#[cfg(test)]
mod tests;
