//! `migrate`: writes the objects of a type again that may be stored in an old version, so that the version can be removed. A
//! user does that, with the permissions of a kubeconfig; `cluster::migration` does the work.

mod types;

use std::{num::NonZeroU32, process::ExitCode};

use anyhow::Context;
use kube::Client;

use self::types::{Wanted, chosen, known};
use super::{command_line::MigrateArgs, crds::Types, program::Program};
use crate::{
    cluster::{Cluster, Pace, Progress, Removed, Rewrite, Step, Terms, Todo},
    metrics::Metrics,
    object::{KeptManagers, OneLine},
    supervisor::Connect,
};

/// How often a request is sent that the server cannot answer now.
const ATTEMPTS: u32 = 5;

pub(super) fn migrate(args: MigrateArgs, program: Program) -> anyhow::Result<ExitCode> {
    let MigrateArgs { ty, chosen: of, kubeconfig, context, per_second, dry_run } = args;
    let mut supervisor = program.supervisor;
    let (types, operators) = Types::chosen(&mut supervisor, &of.only)?;
    let wanted = chosen(&known(&operators, types.versions.iter()), ty.as_deref())?;
    let terms = terms(per_second, dry_run);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = Connect::Kubeconfig { file: kubeconfig, context }.client().await?;
        let cluster = connection(client);
        let mut is_done = true;
        for wanted in &wanted {
            let migrated = one(&cluster, wanted, &terms).await;
            is_done &= migrated.with_context(|| wanted.name.clone())?;
        }
        Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

fn terms(per_second: NonZeroU32, is_dry_run: bool) -> Terms {
    Terms { pace: Pace::per_second(per_second), attempts: ATTEMPTS, is_dry_run }
}

/// Without a fence: a user knows what else runs.
fn connection(client: Client) -> Cluster {
    Cluster::new(client, Metrics::new(), KeptManagers::default()).in_the_name_of("migrate")
}

/// Migrates one type. Returns whether nothing is left to do.
async fn one(cluster: &Cluster, wanted: &Wanted, terms: &Terms) -> anyhow::Result<bool> {
    let Wanted { name, is_named } = wanted;
    let crd = cluster.read_crd(name).await.context("the CRD cannot be read")?;
    let Some(crd) = crd else {
        println!("{name}: the CRD is not installed");
        return Ok(!is_named);
    };
    match Todo::of(&crd)? {
        Todo::Nothing { storage } => {
            println!("{name}: everything is stored in {storage}: there is nothing to migrate");
            Ok(true)
        }
        Todo::Rewrite(todo) => rewritten(cluster, &todo, terms).await,
    }
}

async fn rewritten(cluster: &Cluster, todo: &Rewrite, terms: &Terms) -> anyhow::Result<bool> {
    let name = &todo.name;
    println!("{name}: {}", todo.said());
    let mut progress = Progress::naming(usize::MAX);
    let observe = |step: Step<'_>, progress: &Progress| {
        if matches!(step, Step::Page) {
            println!("{name}: {}", so_far(progress));
        }
    };
    cluster.rewrite(todo, terms, &mut progress, observe).await?;
    println!("{name}: {}", progress.said(terms.is_dry_run));
    for (object, why) in progress.named() {
        println!("{name}: {object} cannot be written: {}", OneLine(why));
    }
    if !progress.is_complete() {
        let old = todo.old.join(", ");
        println!(
            "{name}: status.storedVersions keeps {old}: correct these objects, and run `migrate` again"
        );
        return Ok(false);
    }
    if terms.is_dry_run {
        println!("{name}: would remove {} from status.storedVersions", todo.old.join(", "));
        return Ok(true);
    }
    remove(cluster, todo).await
}

/// How far it is after a page.
fn so_far(progress: &Progress) -> String {
    let done = progress.done() + progress.failed();
    match progress.remaining().filter(|remaining| *remaining > 0) {
        Some(remaining) => format!("{done} done, about {remaining} remain"),
        None => format!("{done} done"),
    }
}

/// Removes the old versions from `status.storedVersions`.
async fn remove(cluster: &Cluster, todo: &Rewrite) -> anyhow::Result<bool> {
    let name = &todo.name;
    let removed = cluster.remove_old_versions(todo).await;
    match removed.context("status.storedVersions cannot be written")? {
        Removed::Yes => println!("{name}: {}", todo.removed()),
        Removed::Changed(changed) => {
            println!("{name}: {changed}. Run `migrate` again");
            return Ok(false);
        }
    }
    Ok(true)
}
