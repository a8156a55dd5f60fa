//! `plan`: what the operators would do on a cluster.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::{
    object::{legible_json, legible_yaml},
    supervisor::{Connect, SupervisorBuilder},
    web::{PlanFilter, Plans},
};
use anyhow::Context;

use super::{
    command_line::{PlanArgs, PlanCluster, PlanOutput},
    documents,
    failure::explain,
    only::only,
    program::Program,
};

/// The exit code where something would be changed, as with `kubectl diff` it is not that of an error.
const CHANGES: u8 = 2;

/// Prints the plans of the chosen parents.
pub(super) fn plan(args: PlanArgs, program: Program) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let output = args.output;
    let plans = runtime.block_on(plans(args, program))?;
    let printed = match output {
        PlanOutput::Diff => plans.to_string(),
        PlanOutput::Json => legible_json(&plans)?,
        PlanOutput::Yaml => legible_yaml(&plans)?,
    };
    io::stdout().write_all(printed.as_bytes())?;
    let problems: Vec<String> = plans.problems().collect();
    if !problems.is_empty() {
        anyhow::bail!("there is no plan for {} parents: {}", problems.len(), problems.join("; "));
    }
    Ok(if plans.has_changes() { ExitCode::from(CHANGES) } else { ExitCode::SUCCESS })
}

async fn plans(args: PlanArgs, program: Program) -> anyhow::Result<Plans> {
    let PlanArgs { chosen, cluster, kubeconfig, context, operator, namespace, .. } = args;
    let mut supervisor = program.supervisor;
    let operators = only(supervisor.take_operators(), &chosen.only)?;
    let documents =
        args.against.as_deref().map(|file| documents::read("--against", file)).transpose()?;
    let (cluster, flag) = match cluster {
        PlanCluster::InCluster => (Connect::InCluster, "--cluster in-cluster"),
        PlanCluster::Kubeconfig => {
            (Connect::Kubeconfig { file: kubeconfig, context }, "--cluster kubeconfig")
        }
    };
    let supervisor = supervisor.connect_to(cluster).plan_only();
    let supervisor = operators.into_iter().fold(supervisor, SupervisorBuilder::register_any);
    let running = supervisor.start().await;
    let running = running.map_err(|error| explain(error, flag))?;
    running.ready().await;
    let filter = PlanFilter { operator, namespace };
    let plans = match &documents {
        Some(documents) => running.plans_against(&filter, documents).await.context("--against"),
        None => running.plans(&filter).await,
    };
    running.stop().await?;
    plans
}
