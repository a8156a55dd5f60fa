//! The dependencies between files, and their cycles.
//!
//! A file depends on the file that defines an item that it uses, whatever module re-exports the item. To name
//! a module alone is no dependency.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{crate_tree::CrateTree, names::Target};

/// A file, and the line where it first uses another.
pub(crate) struct Dependency {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) needed: PathBuf,
}

/// Every dependency that is part of a cycle, file by file.
pub(crate) fn cycles(tree: &CrateTree) -> Vec<Dependency> {
    let dependencies = dependencies(tree);
    let mut direct: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for (from, to) in dependencies.keys() {
        direct.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<_, _> = direct.keys().map(|from| (*from, reach(&direct, from))).collect();
    let leads_back = |from: &Path, to: &Path| reached.get(to).is_some_and(|all| all.contains(from));
    let in_cycles = dependencies.iter().filter(|((from, to), _)| leads_back(from, to));
    in_cycles
        .map(|((file, needed), line)| Dependency {
            file: file.clone(),
            line: *line,
            needed: needed.clone(),
        })
        .collect()
}

/// File and needed file, with the first line of the use.
fn dependencies(tree: &CrateTree) -> BTreeMap<(PathBuf, PathBuf), usize> {
    let mut dependencies: BTreeMap<_, usize> = BTreeMap::new();
    for module in tree.modules.values() {
        for mention in module.mentions() {
            let Target::Item(there) = tree.target(&module.path, mention) else { continue };
            let there = &tree.modules[&there].file;
            if *there != module.file {
                let first = dependencies
                    .entry((module.file.clone(), there.clone()))
                    .or_insert(mention.line);
                *first = mention.line.min(*first);
            }
        }
    }
    dependencies
}

fn reach<'a>(direct: &BTreeMap<&'a Path, BTreeSet<&'a Path>>, from: &Path) -> BTreeSet<&'a Path> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in direct.get(file).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}
