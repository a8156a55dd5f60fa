//! Which file needs which, and where they need each other in a circle.
//!
//! A file needs the file that defines what it mentions, whatever module it asks for it. Naming a
//! module is not yet needing it; what is taken from it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{crate_tree::CrateTree, names::Target};

/// A file, and the line where it first mentions another.
pub(crate) struct Need {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) needed: PathBuf,
}

/// Every need that is part of a circle, file by file.
pub(crate) fn circles(tree: &CrateTree) -> Vec<Need> {
    let needs = needs(tree);
    let mut direct: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for (from, to) in needs.keys() {
        direct.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<_, _> = direct.keys().map(|from| (*from, reach(&direct, from))).collect();
    let leads_back = |from: &Path, to: &Path| reached.get(to).is_some_and(|all| all.contains(from));
    let in_circles = needs.iter().filter(|((from, to), _)| leads_back(from, to));
    in_circles
        .map(|((file, needed), line)| Need {
            file: file.clone(),
            line: *line,
            needed: needed.clone(),
        })
        .collect()
}

/// File and needed file, with the first line that says so.
fn needs(tree: &CrateTree) -> BTreeMap<(PathBuf, PathBuf), usize> {
    let mut needs: BTreeMap<_, usize> = BTreeMap::new();
    for module in tree.modules.values() {
        for mention in module.mentions() {
            let Target::Item(there) = tree.target(&module.path, mention) else { continue };
            let there = &tree.modules[&there].file;
            if *there != module.file {
                let first =
                    needs.entry((module.file.clone(), there.clone())).or_insert(mention.line);
                *first = mention.line.min(*first);
            }
        }
    }
    needs
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
