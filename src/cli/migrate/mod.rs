//! `migrate`: writes the objects of a type again that may be stored in an old version, so that the version can be removed. A
//! user does that, with the permissions of a kubeconfig.
//!
//! ```text
//! CRD --todo (pure)--> pages of objects --rewrite--> answers --progress (pure)--> all written? --> status.storedVersions
//! ```
//!
//! Invariants:
//! - An object is written as it was read, with its resourceVersion: nobody's change is reverted.
//! - A version leaves `status.storedVersions` only if every object was written, and the CRD did not change meanwhile.
//! - To begin again is safe: the server does not write an object whose stored bytes stay the same.

mod progress;
mod rewrite;
mod todo;
mod types;

use std::process::ExitCode;

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};

use self::{
    progress::Progress,
    rewrite::{Pace, reason, rewrite},
    todo::{Rewrite, Todo},
    types::{Wanted, chosen, known},
};
use super::{command_line::MigrateArgs, only::only, program::Program};
use crate::{object::OneLine, supervisor::Connect};

pub(super) fn migrate(args: MigrateArgs, program: Program) -> anyhow::Result<ExitCode> {
    let MigrateArgs { ty, chosen: of, kubeconfig, context, per_second, dry_run } = args;
    let mut supervisor = program.supervisor;
    let operators = only(supervisor.take_operators(), &of.only)?;
    let versions = supervisor.added_versions().iter().filter(|_| of.only.is_empty());
    let wanted = chosen(&known(&operators, versions), ty.as_deref())?;
    let pace = Pace { per_second, is_dry_run: dry_run };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = Connect::Kubeconfig { file: kubeconfig, context }.client().await?;
        let mut is_done = true;
        for wanted in &wanted {
            let migrated = one(&client, wanted, &pace).await;
            is_done &= migrated.with_context(|| wanted.name.clone())?;
        }
        Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

/// Migrates one type. Returns whether nothing is left to do.
async fn one(client: &Client, wanted: &Wanted, pace: &Pace) -> anyhow::Result<bool> {
    let Wanted { name, is_named } = wanted;
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let Some(crd) = api.get_opt(name).await.context("the CRD cannot be read")? else {
        println!("{name}: the CRD is not installed");
        return Ok(!is_named);
    };
    let todo = match Todo::of(&crd)? {
        Todo::Nothing { storage } => {
            println!("{name}: everything is stored in {storage}: there is nothing to migrate");
            return Ok(true);
        }
        Todo::Rewrite(todo) => todo,
    };
    println!("{name}: {}", todo.said());
    let mut progress = Progress::default();
    rewrite(client, &todo, pace, &mut progress).await?;
    println!("{name}: {}", progress.said(pace.is_dry_run));
    for (object, why) in progress.failed() {
        println!("{name}: {object} cannot be written: {}", OneLine(why));
    }
    if !progress.is_complete() {
        println!("{name}: {}", todo.kept());
        return Ok(false);
    }
    if pace.is_dry_run {
        println!("{name}: {}", todo.would_remove());
        return Ok(true);
    }
    remove(&api, &todo).await
}

/// Removes the old versions from `status.storedVersions`.
async fn remove(api: &Api<CustomResourceDefinition>, todo: &Rewrite) -> anyhow::Result<bool> {
    let name = &todo.name;
    let mut version = todo.resource_version.clone();
    loop {
        let patch = Patch::Merge(todo.patch(&version));
        match api.patch_status(name, &PatchParams::default(), &patch).await {
            Ok(_) => {
                println!("{name}: {}", todo.removed());
                return Ok(true);
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => {
                anyhow::bail!("status.storedVersions cannot be written: {}", reason(&error))
            }
        }
        let now = api.get_opt(name).await.context("the CRD cannot be read")?;
        match todo.still_holds(now.as_ref()) {
            Ok(now) => version = now,
            Err(changed) => {
                println!("{name}: {changed}");
                return Ok(false);
            }
        }
    }
}
