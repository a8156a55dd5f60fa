//! `operators manifests`: writes the files that run the operators in a cluster.

use std::{fs, path::Path};

use anyhow::Context;
use operators::{
    Operator,
    manifests::{File, chart, kustomize},
};

/// Writes the files into a directory, and prints their paths.
pub(crate) fn write(out: &Path, is_helm: bool, operators: Vec<Operator>) -> anyhow::Result<()> {
    let files = if is_helm { chart(&operators)? } else { kustomize(operators)? };
    for File { path, text } in files {
        let file = out.join(path);
        let folder = file.parent().unwrap_or(out);
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        println!("{}", file.display());
    }
    Ok(())
}
