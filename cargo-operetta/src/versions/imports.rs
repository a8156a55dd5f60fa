//! The imports that copied items need, of those of their source.

use std::collections::BTreeSet;

use syn::{Item, UseTree};

use super::items::{Found, type_name};

/// Names that need no import.
const KNOWN: [&str; 30] = [
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Display",
    "Eq",
    "Err",
    "From",
    "FromIterator",
    "Hash",
    "Into",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Some",
    "String",
    "Sync",
    "ToString",
    "TryFrom",
    "TryInto",
    "Vec",
];

/// Lines of `use`. A glob is imported if a name comes from nowhere else.
pub(super) fn needed(file: &syn::File, found: &Found<'_>, kind: &str) -> String {
    let uses = || {
        file.items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(item),
            _ => None,
        })
    };
    let modules = file.items.iter().filter_map(|item| match item {
        Item::Mod(item) => Some(item.ident.to_string()),
        _ => None,
    });
    let modules: BTreeSet<String> = modules.collect();
    let mut known: BTreeSet<String> = KNOWN.map(str::to_owned).into();
    known.insert(kind.to_owned());
    known.extend(found.items.iter().filter_map(|item| type_name(item)));
    for item in &found.items {
        known.extend(declared(item));
    }
    uses().for_each(|it| bound(&it.tree, &mut known));
    let is_of_glob =
        |name: &&String| name.starts_with(|it: char| it.is_uppercase()) && !known.contains(*name);
    let needs_globs = found.words.names.iter().any(|name| is_of_glob(&name));
    let lines = uses().filter_map(|it| {
        let tree = kept(&it.tree, &found.words.names, needs_globs)?;
        Some(format!("use {};\n", from_below(&tree, &modules)))
    });
    lines.collect()
}

/// The names that an item declares within it.
fn declared(item: &Item) -> Vec<String> {
    match item {
        Item::Enum(item) => item.variants.iter().map(|it| it.ident.to_string()).collect(),
        Item::Const(item) => vec![item.ident.to_string()],
        Item::Static(item) => vec![item.ident.to_string()],
        _ => Vec::new(),
    }
}

fn bound(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => bound(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(name) => drop(names.insert(name.rename.to_string())),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|it| bound(it, names)),
    }
}

/// The part of a tree whose names are used.
fn kept(tree: &UseTree, used: &BTreeSet<String>, needs_globs: bool) -> Option<String> {
    match tree {
        UseTree::Path(path) => {
            // `use std::fmt::{self}` binds the name of the path.
            let below = match &*path.tree {
                UseTree::Name(name) if name.ident == "self" => {
                    return used.contains(&path.ident.to_string()).then(|| path.ident.to_string());
                }
                below => kept(below, used, needs_globs)?,
            };
            Some(format!("{}::{below}", path.ident))
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            used.contains(&name).then_some(name)
        }
        UseTree::Rename(name) => {
            let is_used = used.contains(&name.rename.to_string());
            is_used.then(|| format!("{} as {}", name.ident, name.rename))
        }
        UseTree::Glob(_) => needs_globs.then(|| "*".to_owned()),
        UseTree::Group(group) => {
            let kept: Vec<String> =
                group.items.iter().filter_map(|it| kept(it, used, needs_globs)).collect();
            match &*kept {
                [] => None,
                [one] => Some(one.clone()),
                several => Some(format!("{{{}}}", several.join(", "))),
            }
        }
    }
}

/// The same path, from a module one level deeper.
fn from_below(tree: &str, modules: &BTreeSet<String>) -> String {
    let first = tree.split("::").next().unwrap_or_default();
    match first {
        "self" => format!("super{}", &tree[first.len()..]),
        _ if first == "super" || modules.contains(first) => format!("super::{tree}"),
        _ => tree.to_owned(),
    }
}
