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

use crate_tree::CrateTree;
use cycles::{Dependency, cycles};

/// Module and layer of the framework. A module may use modules of smaller numbers.
const LAYERS: &[(&str, u8)] = &[
    ("object", 0),
    ("operator", 1),
    ("election", 1),
    ("reply", 1),
    ("schedule", 1),
    ("store", 2),
    ("diff", 2),
    ("manifests", 2),
    ("plan", 3),
    ("history", 3),
    ("related", 3),
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
    ("testkit", 12),
];

/// Modules of one layer that may use each other in this direction, because the lower one is data.
const WITHIN_A_LAYER: &[(&str, &str)] = &[("history", "plan")];

/// Folders whose files are recursive as their data are, and why. No others may be added.
const RECURSIVE: &[(&str, &str)] = &[
    ("apiserver/src/cel/", "a value may be a list or a map of values"),
    ("apiserver/src/protobuf/", "a special form may hold messages"),
];

/// Modules that only re-export, for users.
const WITHOUT_LAYER: &[&str] = &["prelude"];

/// Paths that only the named modules may use.
const RESERVED: &[(&str, &[&str])] = &[
    ("prometheus", &["metrics"]),
    ("kube::Client", &["cluster", "supervisor", "testkit"]),
    ("kube::client", &["cluster", "testkit"]),
    ("kube::Api", &["testkit"]),
    ("actix", &["actors", "supervisor"]),
    ("actix_web", &["web", "supervisor"]),
    ("actix_http", &["web"]),
    ("actix_server", &["web"]),
    ("actix_service", &["web"]),
    ("operetta_apiserver", &["testkit"]),
];

/// The framework.
const FRAMEWORK: &str = "src";

/// The other crates of the workspace that have modules.
const OTHERS: &[&str] = &["apiserver/src", "operators", "tests/controlplane/src"];

#[test]
fn a_module_uses_only_lower_layers() {
    holds(&layers::too_high(&CrateTree::read(FRAMEWORK), LAYERS, WITHIN_A_LAYER));
}

#[test]
fn a_crate_that_performs_effects_is_used_only_by_the_permitted_modules() {
    holds(&layers::not_permitted(&CrateTree::read(FRAMEWORK), LAYERS, RESERVED));
}

#[test]
fn every_module_has_a_layer_and_every_layer_its_module() {
    holds(&layers::mismatched(&CrateTree::read(FRAMEWORK), LAYERS, WITHOUT_LAYER));
}

#[test]
fn files_have_no_cyclic_dependencies() {
    let folders = [FRAMEWORK].iter().chain(OTHERS);
    let wrong = folders.flat_map(|folder| {
        let dependencies = cycles(&CrateTree::read(folder));
        let is_open = |it: &&Dependency| {
            let path = format!("{folder}/{}", it.file.display());
            RECURSIVE.iter().any(|(prefix, _)| path.starts_with(prefix))
        };
        let wrong = dependencies.iter().filter(|it| !is_open(it));
        wrong.map(|it| description(folder, it)).collect::<Vec<_>>()
    });
    holds(&wrong.collect::<Vec<_>>());
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
