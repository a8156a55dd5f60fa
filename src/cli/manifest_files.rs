//! `manifests`: writes the files that run the operators in a cluster.

use std::fs;

use anyhow::Context;

use super::{
    command_line::{Chosen, ManifestsArgs},
    crds::Types,
    deployment::{File, chart, kustomize},
    program::Program,
    replaced::replace,
};

/// Writes the files into a directory, and prints their paths.
pub(super) fn write(args: ManifestsArgs, program: Program) -> anyhow::Result<()> {
    let ManifestsArgs { chosen: Chosen { only: names }, helm, out } = args;
    let Program { mut supervisor, deployed, .. } = program;
    let (types, operators) = Types::chosen(&mut supervisor, &names)?;
    let files = if helm {
        chart(&deployed, &operators, &types, &names)?
    } else {
        kustomize(&deployed, operators, &types, &names)?
    };
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
