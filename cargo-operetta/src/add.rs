//! `cargo operetta add`: another operator, or another type of children, in the package of the current folder.

use std::{fs, path::Path};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};

use super::{
    files::{self, File, write},
    insert::{chained, first_item},
    kinds::path_of,
    names::{Names, snake},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Add {
    /// Another operator in the same program: a module with type, handler and declaration, tests, an example.
    Operator(Operator),
    /// Another type of children of an operator.
    Child(Child),
}

#[derive(Debug, Args)]
pub(crate) struct Operator {
    /// The kind of its parents, such as `Till`.
    kind: String,
    /// The API group of its parents [default: that of `src/lib.rs`].
    #[arg(long)]
    group: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Child {
    /// The kind, such as `ConfigMap`.
    kind: String,
    /// The kind of the parents, where the package has several operators [default: that of `src/lib.rs`].
    #[arg(long)]
    of: Option<String>,
}

/// The source of the library, where the first operator is.
const LIBRARY: &str = "src/lib.rs";

pub(crate) fn add(add: Add, folder: &Path) -> anyhow::Result<()> {
    match add {
        Add::Operator(operator) => add_operator(operator, folder),
        Add::Child(child) => add_child(&child, folder),
    }
}

fn add_operator(Operator { kind, group }: Operator, folder: &Path) -> anyhow::Result<()> {
    let library = read(folder, LIBRARY)?;
    let group = group.or_else(|| quoted(&library, "group = \"").map(str::to_owned));
    let package = read(folder, "Cargo.toml")?;
    let package = quoted(&package, "name = \"").context("Cargo.toml has no `name = \"..\"`")?;
    let names = Names::new(package, Some(kind), group)?;
    let module = snake(&names.kind);
    let files = files::of_module(&names, &module);
    for File { path, .. } in &files {
        ensure!(!folder.join(path).exists(), "{path} exists: choose another kind, or remove it");
    }
    let register = format!(".register({0}::{module}::config(), {0}::{module}::sync)", names.krate);
    let program = read(folder, "src/main.rs")?;
    let program = chained("src/main.rs", &program, ".register(", &register)?;
    for File { path, text } in &files {
        write(&folder.join(path), text)?;
    }
    write(&folder.join(LIBRARY), &first_item(&library, &format!("pub mod {module};")))?;
    write(&folder.join("src/main.rs"), &program)?;
    println!("Added the operator `{}` for {} of {}:", names.singular, names.kind, names.group);
    for File { path, .. } in &files {
        println!("  {path}");
    }
    println!("{DEPLOY}");
    Ok(())
}

fn add_child(Child { kind, of }: &Child, folder: &Path) -> anyhow::Result<()> {
    let path = path_of(kind)?;
    let source = of.as_ref().map_or(LIBRARY.to_owned(), |of| format!("src/{}.rs", snake(of)));
    // The first operator is in the library.
    let source = if folder.join(&source).exists() { source } else { LIBRARY.to_owned() };
    let text = read(folder, &source)?;
    let declaration = "OperatorConfig::custom::<";
    let parent = text.split(declaration).nth(1).and_then(|rest| rest.split('>').next());
    let parent = parent.with_context(|| format!("{source} has no `{declaration}..>(..)`"))?;
    if let Some(of) = of.as_ref().filter(|of| *of != parent) {
        bail!(
            "{source} has the operator of {parent}, and none of {of}: leave out --of, or correct it"
        );
    }
    ensure!(
        !text.contains(&format!(".child::<{kind}>")),
        "{source} has children of the kind {kind}"
    );
    let child = format!(".child::<{kind}>(ChildConfig::apply())");
    let declared = chained(&source, &text, declaration, &child)?;
    let function = snake(kind);
    ensure!(!text.contains(&format!("fn {function}(")), "{source} has a function `{function}`");
    let imported = first_item(&declared, &format!("use {path};"));
    write(&folder.join(&source), &(imported + &function_of(kind, &function, parent)))?;
    println!(
        "Added children of the kind {kind} to {source}. Fill in `{function}`, and return it from `sync`:"
    );
    println!("\n    .child({function}(&request.parent))\n\n{DEPLOY}");
    Ok(())
}

const DEPLOY: &str =
    "Permissions and manifests follow: cargo run -- manifests; cargo run -- manifests --helm";

fn function_of(kind: &str, function: &str, parent: &str) -> String {
    format!(
        "\n/// The `{kind}` of a `{parent}`.\n\
         #[must_use]\n\
         pub fn {function}(parent: &{parent}) -> {kind} {{\n\
         let mut child = {kind}::default();\n\
         child.metadata.name.clone_from(&parent.metadata.name);\n\
         child\n\
         }}\n"
    )
}

fn read(folder: &Path, file: &str) -> anyhow::Result<String> {
    let hint =
        "call `cargo operetta add` in the folder of a package that `cargo operetta new` wrote";
    fs::read_to_string(folder.join(file)).with_context(|| format!("{file} cannot be read: {hint}"))
}

/// The text between these words and the next quotation mark.
fn quoted<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    text.split(begin).nth(1)?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{files::Source, format};

    /// A package as `cargo operetta new` writes it.
    fn package(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let names = Names::new("shop-operator", None, Some("shop.example.com".to_owned())).unwrap();
        for File { path, text } in files::of(&names, &Source::Published) {
            write(&folder.join(path), &text).unwrap();
        }
        folder
    }

    fn operator(kind: &str) -> Add {
        Add::Operator(Operator { kind: kind.to_owned(), group: None })
    }

    fn child(kind: &str, of: Option<&str>) -> Add {
        Add::Child(Child { kind: kind.to_owned(), of: of.map(str::to_owned) })
    }

    #[test]
    fn another_operator_is_a_module_that_is_registered() {
        let folder = package("operetta-add-operator");
        add(operator("CashDesk"), &folder).unwrap();
        format(&folder);
        let text = |path| fs::read_to_string(folder.join(path)).unwrap();
        assert!(text("src/main.rs").contains("shop_operator::cash_desk::sync"));
        assert!(text("src/lib.rs").contains("\npub mod cash_desk;\n"));
        let module = text("src/cash_desk.rs");
        assert!(module.contains(r#"group = "shop.example.com", version = "v1alpha1""#), "{module}");
        assert!(text("tests/cash_desk.rs").contains("use shop_operator::cash_desk::{CashDesk"));
        assert!(text("examples/cashdesk.yaml").contains("kind: CashDesk\n"));
        let error = add(operator("CashDesk"), &folder).unwrap_err().to_string();
        assert_eq!(error, "src/cash_desk.rs exists: choose another kind, or remove it");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_child_type_is_declared_where_its_parents_are() {
        let folder = package("operetta-add-child");
        add(operator("Till"), &folder).unwrap();
        add(child("ConfigMap", None), &folder).unwrap();
        add(child("Job", Some("Till")), &folder).unwrap();
        add(child("Secret", Some("Shop")), &folder).unwrap();
        let text = |path| fs::read_to_string(folder.join(path)).unwrap();
        let (library, module) = (text("src/lib.rs"), text("src/till.rs"));
        assert!(library.contains("use k8s_openapi::api::core::v1::ConfigMap;\n"), "{library}");
        assert!(library.contains(".child::<Secret>(ChildConfig::apply())"), "{library}");
        assert!(library.contains("pub fn config_map(parent: &Shop) -> ConfigMap {"), "{library}");
        assert!(module.contains("/// The `Job` of a `Till`.\n"), "{module}");
        assert!(module.contains("pub fn job(parent: &Till) -> Job {"), "{module}");
        for (kind, of, expected) in [
            ("ConfigMap", None, "src/lib.rs has children of the kind ConfigMap"),
            ("Cat", None, "`Cat` is none of the kinds that are known here (ConfigMap, CronJob,"),
            ("Job", Some("Cat"), "src/lib.rs has the operator of Shop, and none of Cat"),
        ] {
            let error = add(child(kind, of), &folder).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn elsewhere_it_says_where_to_call_it() {
        let error = add(operator("Till"), Path::new("/nonexistent")).unwrap_err().to_string();
        assert!(error.contains("a package that `cargo operetta new` wrote"), "{error}");
    }
}
