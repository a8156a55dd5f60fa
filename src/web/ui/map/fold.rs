//! Which boxes a map has: many objects of one type beneath the same object are one box, so that hundreds of objects stay
//! readable. Those that are not ready keep a box each, as far as there are few. Pure.

use std::collections::HashMap;

use crate::web::map::{Map, MapNode, Relation, Role};

/// A box, after the one that it hangs from.
#[derive(Debug)]
pub(super) struct Tile<'a> {
    /// The index of the box above; `None` for the parent and for related objects.
    pub(super) above: Option<usize>,
    pub(super) depth: u16,
    pub(super) what: What<'a>,
}

#[derive(Debug)]
pub(super) enum What<'a> {
    One(&'a MapNode),
    /// Objects of one type.
    Many {
        id: String,
        members: Vec<&'a MapNode>,
    },
}

/// More objects of one type beneath the same object are folded.
const FEW: usize = 8;
/// The most of them that keep their box because they are not ready.
const MAX_UNWELL: usize = 3;

/// The parent first, then what is beneath it, depth first; the related objects last.
pub(super) fn tiles(map: &Map) -> Vec<Tile<'_>> {
    let Some(parent) = map.nodes.first() else { return Vec::new() };
    let mut folding = Folding { beneath: beneath(map), tiles: Vec::new() };
    folding.add(None, 0, parent);
    let related = map.nodes.iter().filter(|node| node.role == Role::Related);
    let related = related.map(|node| Tile { above: None, depth: 0, what: What::One(node) });
    folding.tiles.extend(related);
    folding.tiles
}

/// Whether nobody has to wait for it.
pub(super) fn is_well(node: &MapNode) -> bool {
    matches!(node.state, "Ready" | "Exists" | "Selection")
}

struct Folding<'a> {
    beneath: HashMap<&'a str, Vec<&'a MapNode>>,
    tiles: Vec<Tile<'a>>,
}

impl<'a> Folding<'a> {
    fn add(&mut self, above: Option<usize>, depth: u16, node: &'a MapNode) {
        let at = self.tiles.len();
        self.tiles.push(Tile { above, depth, what: What::One(node) });
        for alike in by_type(self.beneath.remove(node.id.as_str()).unwrap_or_default()) {
            self.add_alike(at, depth + 1, &node.id, alike);
        }
    }

    fn add_alike(&mut self, at: usize, depth: u16, above: &str, mut alike: Vec<&'a MapNode>) {
        if alike.len() <= FEW {
            return self.add_all(at, depth, alike);
        }
        alike.sort_by_key(|node| is_well(node));
        let unwell = alike.iter().take_while(|node| !is_well(node)).count().min(MAX_UNWELL);
        let members = alike.split_off(unwell);
        self.add_all(at, depth, alike);
        let ty = members.first().map_or("", |node| node.ty.name.as_str());
        let id = format!("{above}*{ty}");
        self.tiles.push(Tile { above: Some(at), depth, what: What::Many { id, members } });
    }

    fn add_all(&mut self, at: usize, depth: u16, nodes: Vec<&'a MapNode>) {
        for node in nodes {
            self.add(Some(at), depth, node);
        }
    }
}

/// What each object owns, in the order of the map.
fn beneath(map: &Map) -> HashMap<&str, Vec<&MapNode>> {
    let nodes: HashMap<&str, &MapNode> =
        map.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut beneath: HashMap<&str, Vec<&MapNode>> = HashMap::new();
    for edge in map.edges.iter().filter(|edge| edge.relation == Relation::Owns) {
        let node = nodes.get(edge.to.as_str()).copied();
        beneath.entry(edge.from.as_str()).or_default().extend(node);
    }
    beneath
}

/// Groups of one type each, in the order of their first.
fn by_type(nodes: Vec<&MapNode>) -> Vec<Vec<&MapNode>> {
    let mut groups: Vec<Vec<&MapNode>> = Vec::new();
    for node in nodes {
        match groups.iter_mut().find(|group| group[0].ty.name == node.ty.name) {
            Some(group) => group.push(node),
            None => groups.push(vec![node]),
        }
    }
    groups
}
