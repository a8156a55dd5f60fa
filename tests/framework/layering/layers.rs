//! Checks which top-level modules of a crate use each other and foreign crates. Each check returns its
//! violations, with file and line.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    crate_tree::{CrateTree, ModulePath},
    module::{Mention, Module},
    names::Target,
};

type Layers<'a> = &'a [(&'a str, u8)];

/// Uses of modules that are not in a lower layer, nor allowed to be used within one.
pub(crate) fn too_high(
    tree: &CrateTree,
    layers: Layers<'_>,
    within: &[(&str, &str)],
) -> Vec<String> {
    let layer_of = |name| layers.iter().find(|(module, _)| *module == name).map(|(_, layer)| layer);
    let mut wrong = Vec::new();
    for (module, mention) in mentions(tree) {
        let from = module.path[0].as_str();
        for to in named(tree, module, mention) {
            let is_lower = layer_of(to).zip(layer_of(from)).is_none_or(|(to, from)| to < from);
            if to != from && !is_lower && !within.contains(&(from, to)) {
                wrong.push(format!("{}: {from} uses {to}", place(module, mention)));
            }
        }
    }
    wrong
}

/// Uses of paths that are reserved for other modules.
pub(crate) fn not_permitted(
    tree: &CrateTree,
    layers: Layers<'_>,
    reserved: &[(&str, &[&str])],
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (module, mention) in mentions(tree) {
        let from = module.path[0].as_str();
        let Target::Foreign(path) = tree.target(&module.path, mention) else { continue };
        let path = path.join("::") + "::";
        let is_layered = layers.iter().any(|(name, _)| *name == from);
        for (thing, users) in reserved {
            let is_used = path.starts_with(&format!("{thing}::"));
            if is_layered && is_used && !users.contains(&from) {
                wrong.push(format!("{}: {from} uses {thing}", place(module, mention)));
            }
        }
    }
    wrong
}

/// Top-level modules without a layer, and layers without a module.
pub(crate) fn mismatched(tree: &CrateTree, layers: Layers<'_>, without: &[&str]) -> Vec<String> {
    let is_top = |name: &str| tree.modules.contains_key(&vec![name.to_owned()]);
    let has_layer =
        |name: &str| without.contains(&name) || layers.iter().any(|(module, _)| *module == name);
    let bare = tree.modules.values().filter(|module| module.path.len() == 1);
    let bare = bare.filter(|module| !has_layer(&module.path[0]));
    let gone = layers.iter().map(|(name, _)| name).chain(without).filter(|name| !is_top(name));
    bare.map(|module| format!("{}:1: has no layer", module.file.display()))
        .chain(gone.map(|name| format!("{name}: has a layer and is no module")))
        .collect()
}

/// Layers that a picture draws otherwise: a line of it is a number, then the modules of that layer in any order.
pub(crate) fn not_drawn(picture: &str, layers: Layers<'_>) -> Vec<String> {
    let lines = picture.lines().map(|line| line.trim_start_matches("//!").trim());
    let drawn: BTreeMap<u8, BTreeSet<&str>> = lines
        .filter_map(|line| line.split_once(char::is_whitespace))
        .filter_map(|(layer, modules)| Some((layer.parse().ok()?, modules)))
        .map(|(layer, modules)| (layer, modules.split_whitespace().collect()))
        .collect();
    let mut expected: BTreeMap<u8, BTreeSet<&str>> = BTreeMap::new();
    for (module, layer) in layers {
        expected.entry(*layer).or_default().insert(module);
    }
    let numbers: BTreeSet<_> = expected.keys().chain(drawn.keys()).collect();
    let differs = |layer: &&&u8| expected.get(**layer) != drawn.get(**layer);
    numbers
        .iter()
        .filter(differs)
        .map(|layer| format!("layer {layer} is drawn otherwise"))
        .collect()
}

/// The paths that modules below the root use; the root only declares them.
fn mentions(tree: &CrateTree) -> impl Iterator<Item = (&Module, &Mention)> {
    let below = tree.modules.values().filter(|module| !module.path.is_empty());
    below.flat_map(|module| module.mentions().map(move |mention| (module, mention)))
}

/// The top-level modules of a path: the one it names, and the one that defines the item.
fn named<'a>(tree: &'a CrateTree, module: &Module, mention: &'a Mention) -> Vec<&'a str> {
    let top =
        |path: ModulePath| tree.modules.keys().find(|key| !path.is_empty() && ***key == path[..1]);
    let defined = match tree.target(&module.path, mention) {
        Target::Item(path) | Target::Module(path) => top(path).map(|path| path[0].as_str()),
        Target::Foreign(_) => None,
    };
    let written = match mention.names.as_slice() {
        [first, name, ..] if first == "crate" => {
            top(vec![name.clone()]).map(|path| path[0].as_str())
        }
        _ => None,
    };
    let mut named: Vec<_> = defined.into_iter().chain(written).collect();
    named.dedup();
    named
}

fn place(module: &Module, mention: &Mention) -> String {
    format!("{}:{}", module.file.display(), mention.line)
}
