//! The boxes and lines of a map, as the template draws them. Pure.

use std::collections::HashMap;

use super::{
    fold::{Tile, What, is_well, tiles},
    layout::{HEIGHT, Layout, Place, WIDTH, layout, line},
};
use crate::web::{
    map::{Edge, Map, MapNode, Relation, Role},
    ui::{
        parts::{Mark, counted},
        tree::readiness,
    },
};

#[derive(Debug)]
pub(super) struct Figure {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Of each box.
    pub(super) box_width: u32,
    pub(super) box_height: u32,
    pub(super) boxes: Vec<Shape>,
    pub(super) lines: Vec<Line>,
}

/// A box, which is also an entry of the list on narrow screens.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) depth: u16,
    pub(super) role: &'static str,
    pub(super) kind: String,
    pub(super) name: String,
    /// The whole name, where the box has no room for it.
    pub(super) title: String,
    pub(super) mark: Mark,
    pub(super) note: String,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) path: String,
    /// `owns`, `mounts` or `reads`.
    pub(super) class: &'static str,
}

/// The most letters of the two lines of a box.
const NAME: usize = 27;
const SECOND: usize = 34;

impl Figure {
    pub(super) fn of(map: &Map, phase: Mark, here: Option<&str>) -> Self {
        let tiles = tiles(map);
        let related = tiles.iter().filter(|tile| is_related(tile)).count();
        let tree: Vec<_> =
            tiles[..tiles.len() - related].iter().map(|it| (it.above, it.depth)).collect();
        let Layout { places, width, height } = layout(&tree, related);
        let lines = lines(map, &tiles, &places);
        let shape = |(tile, place): (&Tile<'_>, &Place)| Shape::new(tile, *place, phase, here);
        let boxes = tiles.iter().zip(&places).map(shape).collect();
        Self { width, height, box_width: WIDTH, box_height: HEIGHT, boxes, lines }
    }
}

impl Shape {
    fn new(tile: &Tile<'_>, place: Place, phase: Mark, here: Option<&str>) -> Self {
        match &tile.what {
            What::One(node) => Self::one(node, place, tile.depth, phase, here),
            What::Many { id, members } => Self::many(id, members, place, tile.depth),
        }
    }

    fn one(node: &MapNode, place: Place, depth: u16, phase: Mark, here: Option<&str>) -> Self {
        let title = named(node, here);
        let mark = match node.role {
            Role::Parent => phase,
            Role::Child | Role::Dependant | Role::Related => readiness(node.state),
        };
        let role = match node.role {
            Role::Parent => "parent",
            Role::Child => "child",
            Role::Dependant => "dependant",
            Role::Related => "related",
        };
        Self {
            id: node.id.clone(),
            place,
            depth,
            role,
            kind: node.ty.kind.clone(),
            name: shortened(&title, NAME),
            title,
            mark,
            note: note(node),
        }
    }

    fn many(id: &str, members: &[&MapNode], place: Place, depth: u16) -> Self {
        let kind = members.first().map(|node| node.ty.kind.clone()).unwrap_or_default();
        let unwell = members.iter().filter(|node| !is_well(node)).count();
        let note = if unwell == 0 { String::new() } else { format!("{unwell} not ready") };
        let title = counted(members.len(), "object", "objects");
        Self {
            id: id.to_owned(),
            place,
            depth,
            role: "group",
            kind,
            name: title.clone(),
            title,
            mark: all_of(unwell),
            note,
        }
    }

    /// What it is and in which state, as far as there is room: its sign shows the state, too.
    pub(super) fn second_line(&self) -> String {
        let Self { kind, mark, note, .. } = self;
        let about = if note.is_empty() { mark.word() } else { note };
        begun(&format!("{kind} · {about}"), SECOND)
    }

    /// What a screen reader says of the box: its text, and what that has no room for.
    pub(super) fn label(&self) -> String {
        let Self { name, title, mark, note, .. } = self;
        let shown = format!("{name} {}", self.second_line());
        let whole = (name != title).then(|| title.clone());
        let note = (!note.is_empty()).then(|| format!("{}: {note}", mark.word()));
        [Some(shown), whole, note].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The state of objects of which so many are not ready.
pub(super) fn all_of(unwell: usize) -> Mark {
    if unwell == 0 { Mark::good("ready") } else { Mark::warn("not all ready") }
}

/// Without the namespace of the parent.
fn named(node: &MapNode, here: Option<&str>) -> String {
    match node.key.namespace.as_deref() {
        Some(namespace) if Some(namespace) != here => format!("{namespace}/{}", node.key.name),
        Some(_) | None => node.key.name.clone(),
    }
}

/// What matters most: why it is not ready, what the last reconcile decided, or who else writes it.
fn note(node: &MapNode) -> String {
    let decision = node.decision.as_ref().filter(|it| it.what.verb().is_none());
    let why = decision.and_then(|it| it.why.as_deref());
    let other = node.changed_by.as_ref().map(|manager| format!("also written by {manager}"));
    let own = Some(node.message.as_str()).filter(|message| !message.is_empty());
    why.or(own).map(str::to_owned).or(other).unwrap_or_default()
}

/// A name loses its middle, where names of Kubernetes differ least.
fn shortened(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let (begin, end) = (most.div_ceil(2) - 1, most / 2);
    letters[..begin].iter().chain(&['…']).chain(&letters[letters.len() - end..]).collect()
}

/// The beginning of a sentence.
fn begun(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

fn is_related(tile: &Tile<'_>) -> bool {
    matches!(tile.what, What::One(node) if node.role == Role::Related)
}

/// The lines between boxes, each once: the objects of a folded box share one.
fn lines(map: &Map, tiles: &[Tile<'_>], places: &[Place]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (tile, place) in tiles.iter().zip(places) {
        if let Some(above) = tile.above {
            lines.push(Line { path: line(places[above], *place), class: "owns" });
        }
    }
    let drawn: HashMap<&str, Place> = tiles
        .iter()
        .zip(places)
        .filter_map(|(tile, place)| match &tile.what {
            What::One(node) => Some((node.id.as_str(), *place)),
            What::Many { .. } => None,
        })
        .collect();
    let across = map.edges.iter().filter(|edge| edge.relation != Relation::Owns);
    let across = across.filter_map(|Edge { from, to, relation }| {
        let (from, to) = (*drawn.get(from.as_str())?, *drawn.get(to.as_str())?);
        Some(match relation {
            Relation::Reads => Line { path: line(to, from), class: "reads" },
            Relation::Mounts | Relation::Owns => Line { path: line(from, to), class: "mounts" },
        })
    });
    lines.extend(across);
    lines
}

#[cfg(test)]
mod tests;
