//! `cargo operetta new NAME` begins an operator: type, handler, tests, image, chart and CI. `cargo operetta add` adds to it.
//!
//! ```text
//! arguments ─ names ─> Names ─ files ─> the files of `template` with these names ─ write ─> a folder
//!           ─ add ──> package, kinds, versions, insert ──> its files with what is added
//! ```
//!
//! `compiled/Cargo.toml` is a package of the files of `template`, so that tests compile and run what is written.

mod add;
mod files;
mod insert;
mod kinds;
mod names;
mod package;
mod versions;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, ensure};
use clap::{Args, Parser, Subcommand};

use self::{
    add::{Add, add},
    files::{File, Source, write},
    names::Names,
};

/// As cargo calls it: the first argument is `operetta`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    /// Begins Kubernetes operators with Operetta.
    #[command(subcommand, version)]
    Operetta(Operetta),
}

#[derive(Debug, Subcommand)]
enum Operetta {
    /// Write a new package with an operator: type, handler, tests, image, CI. It deploys itself: `cargo run -- manifests`.
    New(New),
    /// Add to the package of the current folder.
    #[command(subcommand)]
    Add(Add),
}

#[derive(Debug, Args)]
struct New {
    /// The folder to make. Its last part is the name of the package.
    folder: PathBuf,
    /// The kind of the parents, such as `Shop` [default: the name without `-operator`].
    #[arg(long)]
    kind: Option<String>,
    /// The API group of the parents [default: the kind in `example.dev`].
    #[arg(long)]
    group: Option<String>,
    /// Use the Operetta of this folder instead of the published one.
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Use the Operetta of this git repository.
    #[arg(long, value_name = "URL", conflicts_with = "path")]
    git: Option<String>,
}

fn main() -> ExitCode {
    let Cargo::Operetta(command) = Cargo::parse();
    let done = match command {
        Operetta::New(new) => begin(new),
        Operetta::Add(what) => add(what, Path::new(".")).inspect(|()| format(Path::new("."))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn begin(New { folder, kind, group, path, git }: New) -> anyhow::Result<()> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let names = Names::new(name, kind, group)?;
    let source = match (path, git) {
        (Some(path), _) => Source::Path(absolute(&path)?),
        (None, Some(url)) => Source::Git(url),
        (None, None) => Source::Published,
    };
    let is_free = fs::read_dir(&folder).map_or(true, |mut files| files.next().is_none());
    ensure!(is_free, "`{}` exists and is not empty: choose another name", folder.display());
    for File { path, text } in files::of(&names, &source) {
        write(&folder.join(path), &text)?;
    }
    format(&folder);
    println!("Created the operator `{name}` for {} of {}.", names.kind, names.group);
    println!("\n  cd {}\n  cargo run -- --embedded\n", folder.display());
    println!("README.md says how to try, test and deploy it.");
    Ok(())
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let path = path.canonicalize().with_context(|| format!("--path {}", path.display()))?;
    let is_operetta = path.join("src/operator").is_dir();
    ensure!(is_operetta, "--path {}: it is no clone of Operetta", path.display());
    Ok(path)
}

/// Names of other lengths break lines elsewhere. Without rustfmt the files are as good.
fn format(folder: &Path) {
    let mut rustfmt = Command::new("cargo");
    rustfmt.args(["fmt"]).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = rustfmt.status();
}
