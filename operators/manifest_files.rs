//! `operators manifests`: writes the files that run the operators in a cluster.

use std::fs;

use anyhow::Context;
use operators::{
    Operator,
    manifests::{File, chart, kustomize},
};

use crate::{
    cli::{Chosen, ManifestsArgs},
    only::only,
    replaced::replace,
};

/// Writes the files into a directory, and prints their paths.
pub(crate) fn write(args: ManifestsArgs, operators: Vec<Operator>) -> anyhow::Result<()> {
    let ManifestsArgs { chosen: Chosen { only: names }, helm, out } = args;
    let operators = only(operators, &names)?;
    let files = if helm { chart(&operators, &names)? } else { kustomize(operators, &names)? };
    for File { path, text } in files {
        let file = out.join(path);
        let folder = file.parent().unwrap_or(&out);
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        replace(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
        println!("{}", file.display());
    }
    Ok(())
}
