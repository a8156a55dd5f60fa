//! The layers of the framework hold: a module names only modules of lower layers, and only one
//! module may use each of the crates that do things.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Module and layer. A module may name modules of smaller numbers.
const LAYERS: &[(&str, u8)] = &[
    ("object", 0),
    ("operator", 1),
    ("schedule", 1),
    ("store", 2),
    ("plan", 2),
    ("history", 3),
    ("metrics", 4),
    ("board", 4),
    ("cluster", 4),
    ("reconcile", 5),
    ("actors", 6),
    ("web", 6),
    ("supervisor", 7),
    ("testkit", 8),
];

/// What only the named modules may write.
const RESERVED: &[(&str, &[&str])] = &[
    ("prometheus::", &["metrics"]),
    ("kube::Client", &["cluster", "supervisor", "testkit"]),
    ("kube::client", &["cluster", "testkit"]),
    ("kube::Api", &["testkit"]),
    ("actix::", &["actors", "supervisor"]),
    ("actix_web::", &["web", "supervisor"]),
    ("actix_http::", &["web"]),
    ("actix_server::", &["web"]),
    ("actix_service::", &["web"]),
    ("operetta_apiserver", &["testkit"]),
];

/// Modules of one layer that may name each other in this direction, because the lower one is data.
const WITHIN_A_LAYER: &[(&str, &str)] = &[("cluster", "metrics")];

#[test]
fn a_module_names_only_lower_layers() {
    let mut wrong = Vec::new();
    for (module, layer) in LAYERS {
        for (file, number, line) in code_of(module) {
            for (other, other_layer) in LAYERS {
                let allowed = other == module
                    || other_layer < layer
                    || WITHIN_A_LAYER.contains(&(module, other));
                if !allowed && names_module(&line, other) {
                    wrong.push(format!("{}:{number}: {module} names {other}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_crate_that_does_things_is_used_in_its_room() {
    let mut wrong = Vec::new();
    for (module, _) in LAYERS {
        for (file, number, line) in code_of(module) {
            for (word, rooms) in RESERVED {
                if line.contains(word) && !rooms.contains(module) {
                    wrong.push(format!("{}:{number}: {module} uses {word}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let only_reexports = ["lib", "prelude"].contains(&name.as_str());
        assert!(only_reexports || LAYERS.iter().any(|(module, _)| *module == name), "{name}");
    }
}

fn names_module(line: &str, module: &str) -> bool {
    line.contains(&format!("crate::{module}::"))
        || line.contains(&format!("    {module}::{{"))
            && line.starts_with("    ")
            && !line.starts_with("     ")
        || line.starts_with(&format!("    {module}::")) && line.ends_with(',')
}

/// The lines of a module that are code: no comments, no unit tests.
fn code_of(module: &str) -> Vec<(PathBuf, usize, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root.join(module), &mut files);
    files.extend(Some(root.join(format!("{module}.rs"))).filter(|file| file.exists()));
    files.into_iter().flat_map(|file| code_lines(&file)).collect()
}

fn code_lines(file: &Path) -> Vec<(PathBuf, usize, String)> {
    let text = fs::read_to_string(file).unwrap();
    let numbered = text.lines().enumerate().take_while(|(_, line)| *line != "mod tests {");
    let code = numbered.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.map(|(at, line)| (file.to_owned(), at + 1, line.to_owned())).collect()
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "rs") && !is_test {
            files.push(path);
        }
    }
}
