//! Runs the operators: settings, logs, cluster, supervisor.

use std::env;

use super::{
    command_line::{LogFormat, RunArgs},
    endpoint,
    failure::explain,
    only::within,
    program::Program,
    settings::{Settings, Surroundings},
    telemetry,
    traces::Traces,
};
use crate::supervisor::{Migration, SupervisorBuilder};

/// Runs until SIGINT or SIGTERM.
pub(super) fn run(args: RunArgs, program: Program) -> anyhow::Result<()> {
    let Program { mut supervisor, suggested, prefers_embedded, .. } = program;
    let operators = within(supervisor.take_operators(), &args.only, &args.namespaces)?;
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
    let surroundings = Surroundings { is_inside, prefers_embedded, suggested };
    let Settings { cluster, flag, install_crds, web, election } =
        Settings::resolve(args, surroundings)?;
    let supervisor = endpoint::serve(supervisor, &web)?.log_level(logs).connect_to(cluster);
    // The announcement is for people.
    let supervisor = if format == LogFormat::Text { supervisor.announce() } else { supervisor };
    let supervisor = if install_crds { supervisor.install_crds() } else { supervisor };
    let supervisor = election.into_iter().fold(supervisor, SupervisorBuilder::leader_election);
    let supervisor =
        if traces.is_some() { supervisor.trace_ids(Traces::id_of) } else { supervisor };
    let supervisor = operators.into_iter().fold(supervisor, SupervisorBuilder::register_any);
    supervisor.run_blocking().map_err(|error| explain(error, flag))
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
