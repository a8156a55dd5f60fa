//! Runs the operators: settings, logs, cluster, supervisor.

use std::env;

use super::{
    command_line::{LogFormat, RunArgs},
    crds::Types,
    deployed::Deployed,
    endpoint,
    failure::explain,
    only::{left_out, within},
    program::Program,
    settings::{Settings, Surroundings},
    telemetry,
    traces::Traces,
};
use crate::{
    manifests::webhook_service,
    supervisor::{Connect, Migration, SupervisorBuilder},
};

/// Runs until SIGINT or SIGTERM.
pub(super) fn run(args: RunArgs, program: Program) -> anyhow::Result<()> {
    let Program { mut supervisor, suggested, prefers_embedded, deployed, .. } = program;
    let operators = supervisor.take_operators();
    supervisor.leave_webhooks_out(&left_out(&operators, &args.only));
    if !args.namespaces.is_empty() {
        supervisor.leave_whole_cluster_out();
    }
    let operators = within(operators, &args.only, &args.namespaces)?;
    // Dropped last: what is left is sent.
    #[cfg(feature = "otlp")]
    let traces = args.otlp_endpoint.as_ref().map(Traces::to).transpose()?;
    #[cfg(not(feature = "otlp"))]
    let traces = None::<Traces>;
    let is_inside = env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let usual = if is_inside { LogFormat::Json } else { LogFormat::Text };
    let format = args.log_format.unwrap_or(usual);
    let logs = telemetry::start(args.log_level.as_deref(), format, traces.as_ref())?;
    let supervisor = called(supervisor, &args);
    let is_asked_for = args.webhook_listen.is_some();
    let surroundings = Surroundings { is_inside, prefers_embedded, suggested };
    let Settings { cluster, flag, install_crds, web, election, sharding } =
        Settings::resolve(args, surroundings)?;
    let supervisor =
        if is_asked_for { supervisor } else { reached(supervisor, &cluster, &deployed) };
    let supervisor = endpoint::serve(supervisor, &web)?.log_level(logs).connect_to(cluster);
    // The announcement is for people.
    let supervisor = if format == LogFormat::Text { supervisor.announce() } else { supervisor };
    let supervisor = if install_crds { supervisor.install_crds() } else { supervisor };
    let supervisor = election.into_iter().fold(supervisor, SupervisorBuilder::leader_election);
    let supervisor = sharding.into_iter().fold(supervisor, SupervisorBuilder::sharded);
    let supervisor =
        if traces.is_some() { supervisor.trace_ids(Traces::id_of) } else { supervisor };
    let supervisor = operators.into_iter().fold(supervisor, SupervisorBuilder::register_any);
    supervisor.run_blocking().map_err(|error| explain(error, flag))
}

/// Where nothing says how the API server calls the webhooks: a process in the cluster is called by a Service, and one beside
/// it cannot be called.
fn reached(
    supervisor: SupervisorBuilder,
    cluster: &Connect,
    deployed: &Deployed,
) -> SupervisorBuilder {
    if supervisor.has_callers() {
        return supervisor;
    }
    if *cluster == Connect::InCluster {
        let (name, _) = supervisor.named().unwrap_or_default();
        return supervisor.webhook_service(&webhook_service(&name));
    }
    if !cluster.is_from_outside() {
        return supervisor;
    }
    let reach = Types::of(&supervisor).reach(&deployed.namespace, &deployed.name);
    tracing::warn!(
        "webhooks are not answered, because the API server cannot call this process: name an address that it reaches with \
         --webhook-url, or let the program answer them in the cluster"
    );
    supervisor.webhooks_elsewhere(reach)
}

/// How the API server calls the webhooks of the program, and what is done with the versions of its types.
fn called(supervisor: SupervisorBuilder, args: &RunArgs) -> SupervisorBuilder {
    let RunArgs { webhook_listen, webhook_service, webhook_url, migration_per_second, .. } = args;
    let migration = migration_per_second.map(Migration::per_second);
    let supervisor = migration.into_iter().fold(supervisor, SupervisorBuilder::migration);
    let address = webhook_listen.map(|address| address.to_string());
    let supervisor = address.iter().fold(supervisor, |it, address| it.webhooks(address));
    let supervisor = webhook_service.iter().fold(supervisor, |it, name| it.webhook_service(name));
    webhook_url.iter().fold(supervisor, |it, url| it.webhook_url(url))
}
