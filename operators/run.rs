//! Runs the operators: settings, logs, cluster, supervisor, and the message when ready.

use std::{
    env,
    io::{self, Write},
    sync::{Arc, OnceLock},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operators::{Operator, crds::crds, install::install, register_all};
use operetta::supervisor::{Connection, Ready, Supervisor};

use crate::{
    cli::RunArgs,
    connect::{Connected, Embedded, connect},
    endpoint,
    failure::explain,
    only::within,
    ready::Announcement,
    settings::{Settings, Target},
    telemetry,
    traces::Traces,
};

/// The embedded server, known once connected.
type KnownServer = Arc<OnceLock<Embedded>>;

/// Runs until SIGINT or SIGTERM.
pub(crate) fn run(args: RunArgs, operators: Vec<Operator>) -> anyhow::Result<()> {
    let operators = within(operators, &args.only, &args.namespaces)?;
    // Dropped last: what is left is sent.
    let traces = args.otlp_endpoint.as_ref().map(Traces::to).transpose()?;
    let logs = telemetry::start(&args.log_level, traces.as_ref())?;
    let inside_a_cluster = env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let Settings { target, install_crds, web, election } =
        Settings::resolve(args, inside_a_cluster)?;
    let definitions = if install_crds { crds(&operators) } else { Vec::new() };
    let embedded = KnownServer::default();
    let builder = endpoint::serve(Supervisor::builder(), &web)?
        .log_level(logs)
        .program(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .on_ready(announce(&operators, web.scheme(), embedded.clone()))
        .connect(move || connection(target, definitions, embedded));
    let builder = match election {
        Some(election) => builder.leader_election(election),
        None => builder,
    };
    register_all(builder, operators).run_blocking().map_err(explain)
}

async fn connection(
    target: Target,
    definitions: Vec<CustomResourceDefinition>,
    known: KnownServer,
) -> anyhow::Result<Connection> {
    let Connected { connection, client, embedded } = connect(target).await?;
    install(&client, &definitions).await?;
    if let Some(server) = embedded {
        // Empty until now, as there is only one connection.
        let _ = known.set(server);
    }
    Ok(connection)
}

fn announce(
    operators: &[Operator],
    scheme: &'static str,
    embedded: KnownServer,
) -> impl FnOnce(&Ready) + use<> {
    let operators: Vec<String> =
        operators.iter().map(|o| o.operator.config().name().to_owned()).collect();
    move |ready| {
        let embedded = embedded.get();
        let web = ready.web.map(|address| format!("{scheme}://{address}"));
        let (web, degraded) = (web.as_deref(), &ready.degraded);
        let message = Announcement { operators: &operators, embedded, web, degraded };
        // A closed standard output is no reason to stop.
        let _ = write!(io::stdout(), "{message}");
    }
}
