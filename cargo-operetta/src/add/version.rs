//! `add version`: the type of an operator gets a new version. The one before is copied to a module, with conversions.

use std::path::Path;

use anyhow::{bail, ensure};
use clap::Args;

use crate::{
    files::{File, write_all},
    insert::{chained, first_item},
    names::check_version,
    package::{OperatorSource, crate_name, serving},
    versions::OldVersion,
};

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// The new version, such as `v1`.
    pub(super) version: String,
    /// The kind of the parents, where the package has several operators [default: that of `src/lib.rs`].
    #[arg(long, alias = "operator")]
    pub(super) of: Option<String>,
}

pub(super) fn add(Version { version, of }: &Version, folder: &Path) -> anyhow::Result<()> {
    check_version(version)?;
    let operator = OperatorSource::find(folder, of.as_deref())?;
    let OperatorSource { file, text, parent, module } = &operator;
    let old = OldVersion::find(file, text, parent)?;
    let before = &old.version;
    let path_of = |version: &str| match module {
        Some(module) => format!("src/{module}/{version}.rs"),
        None => format!("src/{version}.rs"),
    };
    ensure!(before != version, "{file} has the version {version} of {parent}");
    for version in [before, version] {
        let path = path_of(version);
        ensure!(
            !folder.join(&path).exists(),
            "{path} exists: choose another version, or remove it"
        );
    }
    let path = path_of(before);
    let copy = old.module(&operator.path_in("crate"))?;
    let text = registered(file, &old.replaced_by(version), parent, before)?;
    let mut files = vec![File::new(&path, copy), File::new(file, text.text)];
    if text.is_first {
        let krate = operator.path_in(&crate_name(folder)?);
        files.extend(serving(folder, &format!(".versions({krate}::versions())"))?);
    }
    write_all(folder, &files)?;
    println!(
        "Added the version {version} of {parent}. {file} has it now, and `sync` is called with it. {before} is in {path}."
    );
    println!("{}", next_steps(&operator, before, version, &path));
    Ok(())
}

struct Registered {
    text: String,
    /// Whether the type had one version before.
    is_first: bool,
}

/// The source with the module of the old version, which is still stored, and its conversions.
fn registered(file: &str, text: &str, kind: &str, old: &str) -> anyhow::Result<Registered> {
    let hub = format!("Versions::hub::<{kind}>");
    let is_first = !text.contains("Versions::hub::<");
    // An older version may still be stored.
    let is_storing = text.contains(".storing::<");
    let storing = if is_storing { String::new() } else { format!(".storing::<{old}::{kind}>()") };
    let calls = format!(".version::<{old}::{kind}>(){storing}");
    let text = if !is_first {
        chained(file, text, &hub, &calls)?
    } else if text.contains("fn versions(") {
        bail!("{file} has a function `versions`: give it another name")
    } else {
        let text = first_item(text, "use operetta::operator::conversion::Versions;");
        format!(
            "{text}\n/// The versions of `{kind}`, and which of them the API server stores.\n\
             pub fn versions() -> Versions {{\n{hub}(){calls}.into()\n}}\n"
        )
    };
    Ok(Registered { text: first_item(&text, &format!("pub mod {old};")), is_first })
}

fn next_steps(operator: &OperatorSource, old: &str, new: &str, path: &str) -> String {
    let OperatorSource { file, parent, .. } = operator;
    format!(
        "\nNext:\n\
         1. Change the types in {file}, and their conversions in {path}, until `cargo test` passes.\n   \
         A field that {old} cannot hold: `.keeping::<{old}::{parent}>(&[\"spec.field\"], &[])` in place of `.version`.\n\
         2. See what changes: cargo run -- crds --check deploy/kustomize/base/crds.yaml; then cargo run -- manifests\n\
         3. Release it. {old} is still stored, so that the release before can be installed again.\n\
         4. Remove `.storing::<..>()` in {file}, and release that: {new} is stored.\n\
         5. Write the objects again: cargo run -- migrate"
    )
}
