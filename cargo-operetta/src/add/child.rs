//! `add child`: a type of children in the declaration of an operator, and a function that makes one.

use std::path::Path;

use anyhow::ensure;
use clap::Args;

use crate::{
    files::{File, write_all},
    insert::{chained, first_item},
    kinds::path_of,
    names::snake,
    package::{DECLARATION, DEPLOY, OperatorSource},
};

#[derive(Debug, Args)]
pub(crate) struct Child {
    /// The kind, such as `ConfigMap`.
    pub(super) kind: String,
    /// The kind of the parents, where the package has several operators [default: that of `src/lib.rs`].
    #[arg(long, alias = "operator")]
    pub(super) of: Option<String>,
}

pub(super) fn add(Child { kind, of }: &Child, folder: &Path) -> anyhow::Result<()> {
    let path = path_of(kind)?;
    let OperatorSource { file, text, parent, .. } = OperatorSource::find(folder, of.as_deref())?;
    ensure!(!text.contains(&format!(".child::<{kind}>")), "{file} has children of the kind {kind}");
    let child = format!(".child::<{kind}>(ChildConfig::apply())");
    let declared = chained(&file, &text, DECLARATION, &child)?;
    let function = snake(kind);
    ensure!(!text.contains(&format!("fn {function}(")), "{file} has a function `{function}`");
    let imported = first_item(&declared, &format!("use {path};"));
    let text = imported + &function_of(kind, &function, &parent);
    write_all(folder, &[File::new(&file, text)])?;
    println!(
        "Added children of the kind {kind} to {file}. Fill in `{function}`, and return it from `sync`:"
    );
    println!("\n    .child({function}(&request.parent))\n\n{DEPLOY}");
    Ok(())
}

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
