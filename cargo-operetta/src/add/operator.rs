//! `add operator`: a module with a type, a handler and a declaration, and its registration.

use std::path::Path;

use anyhow::ensure;
use clap::Args;

use crate::{
    files::{self, File, write_all},
    insert::{chained, first_item},
    names::{Names, snake},
    package::{DEPLOY, LIBRARY, PROGRAM, package_name, quoted, read},
};

#[derive(Debug, Args)]
pub(crate) struct Operator {
    /// The kind of its parents, such as `Till`.
    pub(super) kind: String,
    /// The API group of its parents [default: that of `src/lib.rs`].
    #[arg(long)]
    pub(super) group: Option<String>,
}

pub(super) fn add(Operator { kind, group }: Operator, folder: &Path) -> anyhow::Result<()> {
    let library = read(folder, LIBRARY)?;
    let group = group.or_else(|| quoted(&library, "group = \"").map(str::to_owned));
    let names = Names::new(&package_name(folder)?, Some(kind), group)?;
    let module = snake(&names.kind);
    let files = files::of_module(&names, &module);
    for File { path, .. } in &files {
        ensure!(!folder.join(path).exists(), "{path} exists: choose another kind, or remove it");
    }
    let register = format!(".register({0}::{module}::config(), {0}::{module}::sync)", names.krate);
    let program = read(folder, PROGRAM)?;
    let program = chained(PROGRAM, &program, ".register(", &register)?;
    write_all(folder, &files)?;
    let changed = [
        File::new(LIBRARY, first_item(&library, &format!("pub mod {module};"))),
        File::new(PROGRAM, program),
    ];
    write_all(folder, &changed)?;
    println!("Added the operator `{}` for {} of {}:", names.singular, names.kind, names.group);
    for File { path, .. } in &files {
        println!("  {path}");
    }
    println!("{DEPLOY}");
    Ok(())
}
