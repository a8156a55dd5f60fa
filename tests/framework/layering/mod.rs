//! Tests of the layers: a module uses only modules of lower layers, only the permitted modules use the
//! crates that perform effects, and the files of a crate have no cyclic dependencies.
//!
//! The tables are here. `crate_tree` and `module` read the sources, `names` resolves paths, and `samples` tests
//! the checks themselves.

mod crate_tree;
mod cycles;
mod layers;
mod module;
mod names;
mod samples;

use std::{collections::BTreeMap, fs, path::Path, sync::LazyLock};

use crate_tree::CrateTree;
use cycles::{Dependency, cycles};

/// A crate whose modules have layers. A module may use modules of smaller numbers.
struct Layered {
    folder: &'static str,
    layers: &'static [(&'static str, u8)],
    /// Modules of one layer that may use each other in this direction, because the lower one is data.
    within_a_layer: &'static [(&'static str, &'static str)],
    /// Modules that only re-export, for users.
    without_layer: &'static [&'static str],
}

const LAYERED: [&Layered; 2] = [&FRAMEWORK, &API_SERVER];

const FRAMEWORK: Layered = Layered {
    folder: "src",
    layers: &[
        ("object", 0),
        ("operator", 1),
        ("election", 1),
        ("reply", 1),
        ("schedule", 1),
        ("store", 2),
        ("diff", 2),
        ("manifests", 2),
        ("admission", 2),
        ("plan", 3),
        ("history", 3),
        ("related", 3),
        ("recipes", 3),
        ("journal", 4),
        ("report", 5),
        ("run", 6),
        ("metrics", 7),
        ("board", 7),
        ("cluster", 8),
        ("execute", 9),
        ("actors", 10),
        ("web", 10),
        ("supervisor", 11),
        ("cli", 12),
        ("testkit", 13),
    ],
    within_a_layer: &[("history", "plan")],
    without_layer: &["crd_support", "prelude"],
};

/// `apiserver/src/lib.rs` draws these layers.
const API_SERVER: Layered = Layered {
    folder: "apiserver/src",
    layers: &[
        ("aside", 0),
        ("callout", 0),
        ("clock", 0),
        ("deep", 0),
        ("group_resource", 0),
        ("json_weight", 0),
        ("private_file", 0),
        ("quantity", 0),
        ("requests", 0),
        ("schema", 0),
        ("users", 0),
        ("version_tag", 0),
        ("apply", 1),
        ("conversion", 1),
        ("selector", 1),
        ("status", 1),
        ("cel", 2),
        ("query", 2),
        ("builtin", 3),
        ("shard", 3),
        ("addresses", 4),
        ("json_patch", 4),
        ("log", 4),
        ("protobuf", 4),
        ("strategic", 4),
        ("persistence", 5),
        ("rbac", 5),
        ("resource", 5),
        ("credentials", 6),
        ("discovery", 6),
        ("published", 6),
        ("rendered", 6),
        ("table", 6),
        ("cluster", 7),
        ("account_tokens", 8),
        ("certificates", 8),
        ("crd", 8),
        ("quota", 8),
        ("admission", 9),
        ("shared", 10),
        ("write", 10),
        ("authentication", 11),
        ("bootstrap", 11),
        ("initial", 11),
        ("openapi", 11),
        ("pods", 11),
        ("controllers", 12),
        ("reviews", 12),
        ("simulation", 12),
        ("recovery", 13),
        ("rest", 13),
        ("server", 14),
        ("faults", 15),
        ("transport", 15),
    ],
    within_a_layer: &[],
    without_layer: &[],
};

/// The other crates of the workspace that have modules.
const OTHERS: [&str; 2] = ["operators", "tests/controlplane/src"];

/// The crates of the workspace that have modules, each read once.
static TREES: LazyLock<BTreeMap<&str, CrateTree>> = LazyLock::new(|| {
    let folders = LAYERED.iter().map(|it| it.folder).chain(OTHERS);
    folders.map(|folder| (folder, CrateTree::read(folder))).collect()
});

/// Folders whose files are recursive as their data are, and why. No others may be added.
const RECURSIVE: &[(&str, &str)] =
    &[("apiserver/src/cel/value/", "a value may be a list, a map or an object of values")];

/// Paths that only the named modules may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("prometheus", &["metrics"]),
    ("kube::Client", &["cli", "cluster", "supervisor", "testkit"]),
    ("kube::client", &["cli", "cluster", "testkit"]),
    ("kube::Api", &["cli", "cluster", "testkit"]),
    ("actix", &["actors", "supervisor"]),
    ("actix_web", &["web", "supervisor"]),
    ("actix_http", &["web"]),
    ("actix_server", &["web"]),
    ("actix_service", &["web"]),
    ("operetta_apiserver", &["supervisor", "testkit"]),
];

#[test]
fn a_module_uses_only_lower_layers() {
    holds(&of_layered(|it, tree| layers::too_high(tree, it.layers, it.within_a_layer)));
}

#[test]
fn a_crate_that_performs_effects_is_used_only_by_the_permitted_modules() {
    let tree = &TREES[FRAMEWORK.folder];
    holds(&layers::not_permitted(tree, FRAMEWORK.layers, RESERVED));
}

#[test]
fn every_module_has_a_layer_and_every_layer_its_module() {
    holds(&of_layered(|it, tree| layers::mismatched(tree, it.layers, it.without_layer)));
}

#[test]
fn the_layers_of_the_api_server_are_drawn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(API_SERVER.folder).join("lib.rs");
    let text = fs::read_to_string(root).expect("the crate has a root");
    holds(&layers::not_drawn(&text, API_SERVER.layers));
}

#[test]
fn files_have_no_cyclic_dependencies() {
    let wrong = TREES.iter().flat_map(|(folder, tree)| {
        let dependencies = cycles(tree);
        let is_open = |it: &&Dependency| {
            let path = format!("{folder}/{}", it.file.display());
            RECURSIVE.iter().any(|(prefix, _)| path.starts_with(prefix))
        };
        let wrong = dependencies.iter().filter(|it| !is_open(it));
        wrong.map(|it| description(folder, it)).collect::<Vec<_>>()
    });
    holds(&wrong.collect::<Vec<_>>());
}

/// The violations of a check in each crate that has layers.
fn of_layered(check: impl Fn(&Layered, &CrateTree) -> Vec<String>) -> Vec<String> {
    let of_crate = |it: &&Layered| {
        let wrong = check(it, &TREES[it.folder]);
        wrong.into_iter().map(|wrong| format!("{}/{wrong}", it.folder)).collect::<Vec<_>>()
    };
    LAYERED.iter().flat_map(of_crate).collect()
}

fn description(folder: &str, dependency: &Dependency) -> String {
    let Dependency { file, line, needed } = dependency;
    format!(
        "{folder}/{}:{line}: depends on {}, which depends on it",
        file.display(),
        needed.display()
    )
}

fn holds(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
