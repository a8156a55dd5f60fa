//! Running the operators: settings, logs, cluster, supervisor, and the message when ready.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use operators::{Operator, crds::crds, install::install, register_all};
use operetta::supervisor::{Ready, RunError, Supervisor};

use crate::{
    cli::RunArgs,
    connect::{Connection, connect},
    ready::Announcement,
    settings::Settings,
    telemetry,
};

/// Where the embedded server's kubeconfig went, known once connected.
type KubeconfigPath = Arc<OnceLock<PathBuf>>;

/// Runs until SIGINT or SIGTERM.
pub(crate) fn run(args: RunArgs, operators: Vec<Operator>) -> anyhow::Result<()> {
    telemetry::start(&args.log_level)?;
    let inside_a_cluster = env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let settings = Settings::resolve(args, inside_a_cluster)?;
    let listen = settings.listen.to_string();
    let kubeconfig = KubeconfigPath::default();
    let names: Vec<String> = operators.iter().map(|o| o.config.name.clone()).collect();
    let definitions = if settings.install_crds { crds(&operators) } else { Vec::new() };
    let known = kubeconfig.clone();
    let builder = Supervisor::builder()
        .connect(move || async move {
            let Connection { client, kubeconfig } = connect(settings.target).await?;
            install(&client, &definitions).await?;
            if let Some(path) = kubeconfig {
                // Empty until here: there is one connection.
                let _ = known.set(path);
            }
            Ok(client)
        })
        .serve(&listen)
        .on_ready(move |ready: &Ready| {
            let kubeconfig = kubeconfig.get().map(PathBuf::as_path);
            let message = Announcement { operators: &names, kubeconfig, web: ready.web };
            // A closed standard output is no reason to stop.
            let _ = write!(io::stdout(), "{message}");
        });
    register_all(builder, operators).run().map_err(explain)
}

/// Names the flag that helps; what failed while connecting says itself what it is.
fn explain(error: RunError) -> anyhow::Error {
    match error {
        RunError::Web(error) => anyhow::Error::new(error).context("--listen"),
        RunError::Connect(error) => error,
        error @ (RunError::NoOperators
        | RunError::Config(_)
        | RunError::PanicAborts
        | RunError::System(_)
        | RunError::Died) => error.into(),
    }
}
