//! Sets of field paths.
//!
//! Membership of a path is independent of its parents and children: owning `.spec` does not mean owning
//! `.spec.replicas`. The tree only stores paths compactly.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    path_element::{Path, PathElement},
    shape::{Shape, Type},
};

/// A set of field paths. A child set is never empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    pub(super) members: BTreeSet<PathElement>,
    pub(super) children: BTreeMap<PathElement, FieldSet>,
}

impl FieldSet {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// Adds one path. The empty path, which is the whole object, is ignored because it has no owner.
    pub(super) fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => match self.children.get_mut(first) {
                Some(child) => child.insert(rest),
                None => self.children.entry(first.clone()).or_default().insert(rest),
            },
        }
    }

    pub(super) fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self.children.get(first).is_some_and(|c| c.contains(rest)),
        }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.absorb(other.clone());
        union
    }

    /// Takes in another one; the cost is that of the other one.
    pub(super) fn absorb(&mut self, other: Self) {
        let Self { members, children } = other;
        self.members.extend(members);
        for (element, theirs) in children {
            self.children.entry(element).or_default().absorb(theirs);
        }
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let both = |(element, ours): (&PathElement, &FieldSet)| {
            let common = ours.intersection(other.children.get(element)?);
            (!common.is_empty()).then(|| (element.clone(), common))
        };
        let children = self.children.iter().filter_map(both).collect();
        Self { members, children }
    }

    /// Without the members of `other`; what lies below a member of `other` stays.
    pub(super) fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let rest = |(element, ours): (&PathElement, &FieldSet)| {
            let theirs = other.children.get(element);
            let rest = theirs.map_or_else(|| ours.clone(), |theirs| ours.difference(theirs));
            (!rest.is_empty()).then(|| (element.clone(), rest))
        };
        let children = self.children.iter().filter_map(rest).collect();
        Self { members, children }
    }

    /// Without the members of `other` and everything below them.
    pub(super) fn recursive_difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let rest = |(element, ours): (&PathElement, &FieldSet)| {
            let theirs = other.children.get(element);
            let rest =
                theirs.map_or_else(|| ours.clone(), |theirs| ours.recursive_difference(theirs));
            (!rest.is_empty()).then(|| (element.clone(), rest))
        };
        let outside = |(element, _): &(&PathElement, &FieldSet)| !other.members.contains(element);
        let children = self.children.iter().filter(outside).filter_map(rest).collect();
        Self { members, children }
    }

    /// With the declared fields on the way to each member: a manager of `.spec.replicas` keeps
    /// `.spec` alive, one of `.data.key` does not keep `.data`, were that a key of a map itself.
    pub(super) fn with_named_fields(&self, ty: Option<Type<'_>>) -> Self {
        let mut members = self.members.clone();
        let mut children = BTreeMap::new();
        for (element, child) in &self.children {
            if is_declared_field(ty, element) {
                members.insert(element.clone());
            }
            let below = ty.and_then(|ty| type_below(ty, element));
            children.insert(element.clone(), child.with_named_fields(below));
        }
        Self { members, children }
    }

    /// Every member, parents before children.
    pub(super) fn paths(&self) -> Vec<Path> {
        let members = self.members.iter().map(|member| vec![member.clone()]);
        let mut paths: Vec<Path> = members.collect();
        for (element, child) in &self.children {
            paths.extend(child.paths().into_iter().map(|mut below| {
                below.insert(0, element.clone());
                below
            }));
        }
        paths
    }
}

fn is_declared_field(ty: Option<Type<'_>>, element: &PathElement) -> bool {
    let PathElement::Field(name) = element else { return false };
    match ty.map(|ty| ty.shape(None)) {
        Some(Shape::Map(map)) => map.field(name).is_some(),
        _ => false,
    }
}

fn type_below<'a>(ty: Type<'a>, element: &PathElement) -> Option<Type<'a>> {
    match element {
        PathElement::Field(name) => ty.map()?.child(name),
        PathElement::Key(_) => Some(ty.list()?.element),
        PathElement::Value(_) | PathElement::Index(_) => None,
    }
}
