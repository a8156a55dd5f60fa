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

use std::path::Path;

use circles::{Need, circles};
use crate_tree::CrateTree;

/// Module and layer of the framework. A module may use modules of smaller numbers.
const LAYERS: &[(&str, u8)] = &[
    ("object", 0),
    ("operator", 1),
    ("reply", 1),
    ("schedule", 1),
    ("store", 2),
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
    ("operetta_apiserver", &["testkit"]),
];

/// The framework.
const FRAMEWORK: &str = "src";

/// The other crates of the workspace that have modules.
const OTHERS: &[&str] = &["apiserver/src", "operators", "tests/controlplane/src"];

/// Modules of the framework whose files still need each other in circles.
const NOT_YET: &[&str] = &["web"];

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
    let framework = circles(&CrateTree::read(FRAMEWORK));
    let mut wrong: Vec<_> =
        framework.iter().filter(|need| !is_not_yet(need)).map(in_framework).collect();
    for folder in OTHERS {
        wrong.extend(circles(&CrateTree::read(folder)).iter().map(|need| told(folder, need)));
    }
    holds(&wrong);
}

#[test]
fn what_is_said_to_have_circles_has_some() {
    let found = circles(&CrateTree::read(FRAMEWORK));
    let cut = NOT_YET.iter().filter(|name| !found.iter().any(|need| need.module[0] == **name));
    holds(&cut.map(|name| format!("NOT_YET: {name} has no circles any more")).collect::<Vec<_>>());
}

/// Both ends are in one module that is not free of circles yet.
fn is_not_yet(need: &Need) -> bool {
    let top = |file: &Path| file.iter().next().map(|name| name.to_string_lossy().into_owned());
    need.module.first().is_some_and(|module| NOT_YET.contains(&module.as_str()))
        && top(&need.file) == top(&need.needed)
}

fn in_framework(need: &Need) -> String {
    told(FRAMEWORK, need)
}

fn told(folder: &str, need: &Need) -> String {
    let Need { file, line, needed, .. } = need;
    format!("{folder}/{}:{line}: needs {}, which needs it", file.display(), needed.display())
}

fn holds(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
