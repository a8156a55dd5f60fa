//! The layers of the framework hold: a module uses only modules of lower layers, only the named
//! modules may use the crates that do things, and no files of a crate need each other in a circle.
//!
//! The tables are here; the sources are read by `crate_tree` and `module`, what a name means is found
//! by `names`. `planted` tests that what is wrong is found, and nothing else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod circles;
mod crate_tree;
mod layers;
mod module;
mod names;
mod planted;

use circles::{Need, circles};
use crate_tree::CrateTree;

/// Module and layer of the framework. A module may use modules of smaller numbers.
const LAYERS: &[(&str, u8)] = &[
    ("object", 0),
    ("operator", 1),
    ("reply", 1),
    ("schedule", 1),
    ("store", 2),
    ("diff", 2),
    ("plan", 3),
    ("history", 3),
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

/// Modules that only name what is elsewhere, for users.
const WITHOUT_LAYER: &[&str] = &["prelude"];

/// What only the named modules may use.
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
fn a_crate_that_does_things_is_used_in_its_room() {
    holds(&layers::out_of_room(&CrateTree::read(FRAMEWORK), LAYERS, RESERVED));
}

#[test]
fn every_module_has_a_layer_and_every_layer_its_module() {
    holds(&layers::mismatched(&CrateTree::read(FRAMEWORK), LAYERS, WITHOUT_LAYER));
}

#[test]
fn files_do_not_need_each_other_in_circles() {
    let folders = [FRAMEWORK].iter().chain(OTHERS);
    let wrong = folders.flat_map(|folder| {
        let needs = circles(&CrateTree::read(folder));
        needs.iter().map(|need| told(folder, need)).collect::<Vec<_>>()
    });
    holds(&wrong.collect::<Vec<_>>());
}

fn told(folder: &str, need: &Need) -> String {
    let Need { file, line, needed, .. } = need;
    format!("{folder}/{}:{line}: needs {}, which needs it", file.display(), needed.display())
}

fn holds(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
