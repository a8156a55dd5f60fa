//! The groups in the order of the real server: built-in ones by their priority, then custom ones by name.

use std::{borrow::Cow, collections::BTreeMap, sync::LazyLock};

use super::listed::{Listed, ListedVersion};
use crate::resource::{Resource, Resources};

/// The name of the core group.
const CORE: &str = "";

/// A group with its versions, the preferred one first.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) name: Cow<'static, str>,
    pub(crate) versions: Vec<ListedVersion>,
}

/// A group a line: its name, and its versions as JSON.
const DATA: &str = include_str!("../../data/discovery.txt");

/// The core group.
pub(crate) fn core() -> Option<Group> {
    BUILT_IN.iter().find(|group| group.name == CORE).cloned()
}

/// All groups but the core group.
pub(crate) fn others(resources: &Resources) -> Vec<Group> {
    let mut groups: Vec<Group> = built_in().filter(|group| group.name != CORE).collect();
    for custom in custom(resources) {
        match groups.iter_mut().find(|group| group.name == custom.name) {
            Some(known) => known.add(custom.versions),
            None => groups.push(custom),
        }
    }
    groups
}

/// The group of this name.
pub(crate) fn find(resources: &Resources, name: &str) -> Option<Group> {
    if name == CORE {
        return core();
    }
    let mut found: Option<Group> = BUILT_IN.iter().find(|group| group.name == name).cloned();
    let of_group = custom(resources).into_iter().filter(|group| group.name == name);
    for custom in of_group {
        match &mut found {
            Some(known) => known.add(custom.versions),
            None => found = Some(custom),
        }
    }
    found
}

impl Group {
    /// The version of this name.
    pub(crate) fn version(&self, name: &str) -> Option<&ListedVersion> {
        self.versions.iter().find(|version| version.version == name)
    }

    /// Adds versions of custom resources; those of built-in types stay alone in theirs.
    fn add(&mut self, versions: Vec<ListedVersion>) {
        for version in versions {
            if self.version(&version.version).is_none() {
                self.versions.push(version);
            }
        }
    }
}

fn built_in() -> impl Iterator<Item = Group> {
    BUILT_IN.iter().cloned()
}

static BUILT_IN: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let groups = DATA.lines().filter_map(|line| {
        let (name, versions) = line.split_once(' ')?;
        let versions = serde_json::from_str(versions)
            .expect("the data file is part of this program and tested with it");
        Some(Group { name: name.into(), versions })
    });
    groups.collect()
});

fn custom(resources: &Resources) -> Vec<Group> {
    let mut by_group: BTreeMap<&str, BTreeMap<&str, Vec<&Resource>>> = BTreeMap::new();
    for resource in resources.iter().filter(|resource| resource.is_custom()) {
        let group = by_group.entry(&resource.id.group).or_default();
        group.entry(&resource.version).or_default().push(resource);
    }
    let mut groups = Vec::new();
    for (name, by_version) in by_group {
        let mut versions: Vec<_> = by_version.into_iter().collect();
        versions.sort_by_key(|(version, _)| std::cmp::Reverse(crate::resource::stability(version)));
        let versions = versions.into_iter().map(|(version, mut resources)| {
            resources.sort_by(|a, b| a.id.plural.cmp(&b.id.plural));
            let listed = resources.into_iter().map(Listed::custom).collect();
            ListedVersion::new(version, listed)
        });
        groups.push(Group { name: name.to_owned().into(), versions: versions.collect() });
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_lists_every_built_in_type() {
        for ty in crate::builtin::types() {
            let group = built_in().find(|group| group.name == ty.group);
            let version = group.as_ref().and_then(|group| group.version(ty.version));
            let is_listed = |version: &ListedVersion| {
                version.resources.iter().any(|listed| listed.plural == ty.plural)
            };
            assert!(version.is_some_and(is_listed), "{}/{}", ty.group, ty.plural);
        }
    }
}
