//! The files of a new operator: those of `template` with other names.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use serde_json::Value;

use super::{names::Names, package::OperatorSource};

/// A file below the new folder.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), text }
    }
}

/// Where the new package has Operetta from.
pub(crate) enum Source {
    Published,
    Path(PathBuf),
    Git(String),
}

const TEMPLATE: [(&str, &str); 11] = [
    ("Cargo.toml", include_str!("../template/manifest.toml")),
    ("src/lib.rs", include_str!("../template/src/lib.rs")),
    ("src/main.rs", include_str!("../template/src/main.rs")),
    ("tests/operator.rs", include_str!("../template/tests/operator.rs")),
    ("examples/scaffold.yaml", include_str!("../template/examples/scaffold.yaml")),
    ("Dockerfile", include_str!("../template/Dockerfile")),
    (".dockerignore", include_str!("../template/dockerignore")),
    (".gitignore", include_str!("../template/gitignore")),
    (".github/workflows/ci.yaml", include_str!("../template/ci.yaml")),
    ("README.md", include_str!("../template/README.md")),
    ("AGENTS.md", include_str!("../template/AGENTS.md")),
];

const VALIDATING: &str = include_str!("../template/webhooks/validating.rs");
const MUTATING: &str = include_str!("../template/webhooks/mutating.rs");

/// The files for these names.
pub(crate) fn of(names: &Names, source: &Source) -> Vec<File> {
    let file = |(path, text)| replaced(path, text, names, &names.krate, &source.in_manifest());
    TEMPLATE.into_iter().map(file).collect()
}

/// The files of an operator that is a module of an existing package.
pub(crate) fn of_module(names: &Names, module: &str) -> Vec<File> {
    let path_of = |path: &str| match path {
        "src/lib.rs" => Some(format!("src/{module}.rs")),
        "tests/operator.rs" => Some(format!("tests/{module}.rs")),
        "examples/scaffold.yaml" => Some(path.to_owned()),
        _ => None,
    };
    let krate = format!("{}::{module}", names.krate);
    let file = |(path, text)| Some(replaced(&path_of(path)?, text, names, &krate, ""));
    TEMPLATE.into_iter().filter_map(file).collect()
}

/// The source of a webhook for the parents of an operator, with this label and function. Its tests have a spec.
pub(crate) fn of_webhook(
    mutating: bool,
    operator: &OperatorSource,
    (label, function): (&str, &str),
    spec: &Value,
) -> String {
    let module = operator.path_in("crate") + "::";
    let spec = in_macro(spec);
    let replaced = [
        ("crate::", &*module),
        ("\"@spec@\"", &spec),
        ("scaffold-check", label),
        ("scaffold_check", function),
        ("Scaffold", &operator.parent),
        ("scaffold", &operator.parent.to_ascii_lowercase()),
    ];
    replace(if mutating { MUTATING } else { VALIDATING }, &replaced)
}

/// JSON as it is written by hand: on one line if it is short. Its texts have no line breaks.
fn in_macro(json: &Value) -> String {
    const SHORT: usize = 60;
    let lines = format!("{json:#}");
    let line = lines.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    if line.len() <= SHORT { line } else { lines.replace('\n', "\n        ") }
}

pub(crate) fn write_all(folder: &Path, files: &[File]) -> anyhow::Result<()> {
    files.iter().try_for_each(|File { path, text }| write(&folder.join(path), text))
}

pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    fs::write(path, text).with_context(failed)
}

fn replaced(path: &str, text: &str, names: &Names, krate: &str, source: &str) -> File {
    // A name comes before those that it begins with.
    let replaced = [
        ("@operetta@", source),
        ("scaffold.example.dev", &names.group),
        ("scaffold-operator", &names.package),
        ("scaffold_operator", krate),
        ("Scaffold", &names.kind),
        ("scaffold", &names.singular),
    ];
    File { path: replace(path, &replaced), text: replace(text, &replaced) }
}

impl Source {
    fn in_manifest(&self) -> String {
        match self {
            Self::Published => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
            Self::Path(path) => format!("path = {:?}", path.to_string_lossy()),
            Self::Git(url) => format!("git = {url:?}"),
        }
    }
}

/// Replaces in one pass: what was put in is not looked at again.
fn replace(text: &str, replaced: &[(&str, &str)]) -> String {
    let mut written = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let found = replaced.iter().find(|(name, _)| rest.starts_with(name));
        if let Some((name, value)) = found {
            written.push_str(value);
            rest = &rest[name.len()..];
        } else {
            written.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<File> {
        let names = Names::new("scaffold-shop", Some("Till".to_owned()), None).unwrap();
        of(&names, &Source::Git("https://git.example.com/operetta".to_owned()))
    }

    fn text(path: &str) -> String {
        files().into_iter().find(|file| file.path == path).unwrap().text
    }

    #[test]
    fn every_name_is_replaced_once() {
        let manifest = text("Cargo.toml");
        assert!(manifest.contains("name = \"scaffold-shop\"\n"), "{manifest}");
        let source =
            r#"operetta = { git = "https://git.example.com/operetta", features = ["cli"] }"#;
        assert!(manifest.contains(source), "{manifest}");
        let library = text("src/lib.rs");
        assert!(
            library.contains(r#"group = "till.example.dev", version = "v1alpha1", kind = "Till""#)
        );
        assert!(text("examples/till.yaml").contains("kind: Till\n"));
        for File { path, text } in files() {
            let rest = text.replace("scaffold-shop", "").replace("scaffold_shop", "");
            assert!(
                !rest.to_lowercase().contains("scaffold") && !rest.contains('@')
                    || path.ends_with("ci.yaml"),
                "{path}: {rest}"
            );
        }
    }

    /// The package that compiles the files must have the same dependencies.
    #[test]
    fn what_is_compiled_has_the_dependencies_of_what_is_written() {
        let compiled = include_str!("../compiled/Cargo.toml");
        let written = include_str!("../template/manifest.toml");
        let dependencies = written.split("dependencies]\n").skip(1).flat_map(str::lines);
        let ours = dependencies.take_while(|line| !line.starts_with("[profile"));
        for line in ours.filter(|line| line.contains(" = ") && !line.contains("@operetta@")) {
            assert!(compiled.lines().any(|it| it == line), "{line}");
        }
    }
}
