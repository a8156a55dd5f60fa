//! `add webhook`: a function that the API server calls before it stores a parent, its tests, and its registration.

use std::path::Path;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    files::{File, of_webhook, write_all},
    insert::first_item,
    names::webhook_function,
    package::{DEPLOY, LIBRARY, OperatorSource, crate_name, read, serving},
};

#[derive(Debug, Args)]
pub(crate) struct Webhook {
    /// Its name, such as `short-names`.
    pub(super) name: String,
    /// The kind of the parents, where the package has several operators [default: that of `src/lib.rs`].
    #[arg(long, alias = "operator")]
    pub(super) of: Option<String>,
    /// Let it change objects, and not only allow or deny them.
    #[arg(long)]
    pub(super) mutating: bool,
}

/// Where webhooks are, beside the library.
const MODULES: &str = "src/webhooks/mod.rs";

pub(super) fn add(Webhook { name, of, mutating }: &Webhook, folder: &Path) -> anyhow::Result<()> {
    let function = webhook_function(name)?;
    let operator = OperatorSource::find(folder, of.as_deref())?;
    let path = format!("src/webhooks/{function}.rs");
    ensure!(!folder.join(&path).exists(), "{path} exists: choose another name, or remove it");
    ensure!(
        !folder.join("src/webhooks.rs").exists(),
        "src/webhooks.rs exists: webhooks are added to the folder `src/webhooks`; move it to {MODULES}"
    );
    let spec = example(folder, &operator.parent)?;
    let text = of_webhook(*mutating, &operator, (name, &function), &spec);
    let mut files = vec![File { path: path.clone(), text }];
    files.extend(modules(folder, &operator, &function)?);
    let krate = crate_name(folder)?;
    files.extend(serving(folder, &format!(".webhook({krate}::webhooks::{function}::webhook())"))?);
    write_all(folder, &files)?;
    println!(
        "Added the webhook `{name}` for {}. Write `{function}` in {path}, and its tests below it.",
        operator.parent
    );
    println!("{DEPLOY}");
    Ok(())
}

/// The library and the list of its webhooks with another one. The library may be that of the operator.
fn modules(folder: &Path, operator: &OperatorSource, function: &str) -> anyhow::Result<Vec<File>> {
    let item = format!("pub mod {function};");
    if folder.join(MODULES).exists() {
        return Ok(vec![File::new(MODULES, first_item(&read(folder, MODULES)?, &item))]);
    }
    let library = match operator.module {
        Some(_) => read(folder, LIBRARY)?,
        None => operator.text.clone(),
    };
    let list = "//! What the API server asks this program before it stores an object.\n\n";
    Ok(vec![
        File::new(MODULES, format!("{list}{item}\n")),
        File::new(LIBRARY, first_item(&library, "pub mod webhooks;")),
    ])
}

/// The spec of the example of a kind, with which the tests are written.
fn example(folder: &Path, kind: &str) -> anyhow::Result<Value> {
    let file = format!("examples/{}.yaml", kind.to_ascii_lowercase());
    let text = read(folder, &file)?;
    let objects = serde_yaml_ng::Deserializer::from_str(&text).map(Value::deserialize);
    let objects = objects.collect::<Result<Vec<_>, _>>().with_context(|| file.clone())?;
    let found = objects.into_iter().find(|object| object["kind"] == *kind);
    let spec = found.map(|mut object| object["spec"].take()).filter(|spec| !spec.is_null());
    spec.with_context(|| {
        format!("{file} has no {kind} with a spec: write one, the tests of the webhook use it")
    })
}
