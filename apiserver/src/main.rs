//! The embedded API server as a program: starts, writes a kubeconfig, and serves until it is stopped.

use std::{io, net::SocketAddr, path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use operetta_apiserver::{DataDirectoryError, ServeError, Server, User, WorkloadTiming};
use tokio::{
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
};

const NOT_IMITATED: &str = "\
Not imitated, and answered with 501 or 415 where a client asks for it: logs, exec, port-forward and proxies
(no containers run).
Not there: request limits. Webhooks are called on loopback addresses, and at those
that --service names. They are not asked about connections, nor about what controllers delete.
Without --simulate-workloads there is no scheduler, no kubelet and no workload controller: Pods stay Pending and
end as soon as they are deleted, Deployments make no ReplicaSets. With it they only look as if they ran.";

/// An embedded Kubernetes API server on loopback, for development and tests.
#[derive(Debug, Parser)]
#[command(version, about, after_help = NOT_IMITATED)]
#[expect(clippy::struct_excessive_bools, reason = "options, each on its own")]
struct Arguments {
    /// Where to listen; only loopback addresses are accepted. Port 0 chooses a free one, with --data that of
    /// the last time.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Where to write the kubeconfig (mode 0600) [default: operetta.kubeconfig, or kubeconfig in the directory
    /// of --data].
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// A directory to keep the objects and credentials in, so that they survive a restart and a crash. It is
    /// created if it does not exist. Without it nothing is kept.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// How many MiB of objects there may be; their history takes at most half as many more.
    #[arg(long, default_value_t = 2048)]
    storage_mib: usize,
    /// Enforces what roles and their bindings allow. Without it, everybody who has a token may do everything.
    #[arg(long)]
    rbac: bool,
    /// A user for whom the kubeconfig gets a context, with their groups, such as jane=developers,testers. May be given
    /// more than once.
    #[arg(long = "user", value_name = "NAME[=GROUP,..]", value_parser = user)]
    users: Vec<User>,
    /// Simulates workloads: Deployments, their Pods and a node `embedded` look as if they ran, and nothing runs.
    #[arg(long)]
    simulate_workloads: bool,
    /// Runs only what kube-apiserver runs itself: namespaces get no `ServiceAccount` `default` and no `ConfigMap`
    /// `kube-root-ca.crt`, nothing is collected, and no namespace ends.
    #[arg(long)]
    without_controller_manager: bool,
    /// Lists and watches of shards by the parameter `shardSelector`, as with the feature gate `ShardedListAndWatch` of
    /// kube-apiserver. Without it the parameter is ignored.
    #[arg(long)]
    sharded_lists: bool,
    /// Where a Service answers that a webhook configuration names, such as default/hook=127.0.0.1:9443. May be
    /// given more than once.
    #[arg(long = "service", value_name = "NAMESPACE/NAME=ADDRESS", value_parser = mapped_service)]
    services: Vec<MappedService>,
}

fn user(text: &str) -> Result<User, String> {
    let (name, groups) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() {
        return Err("expected NAME[=GROUP,..], such as jane=developers,testers".to_owned());
    }
    let groups = groups.split(',').filter(|group| !group.is_empty());
    Ok(groups.fold(User::new(name), User::group))
}

/// A Service, and where it answers.
#[derive(Debug, Clone)]
struct MappedService {
    namespace: String,
    name: String,
    address: SocketAddr,
}

fn mapped_service(text: &str) -> Result<MappedService, String> {
    let parts = text.split_once('=').and_then(|(service, address)| {
        let (namespace, name) = service.split_once('/')?;
        Some((namespace.to_owned(), name.to_owned(), address))
    });
    let (namespace, name, address) =
        parts.ok_or("expected NAMESPACE/NAME=ADDRESS, such as default/hook=127.0.0.1:9443")?;
    let address = address.parse().map_err(|error| format!("{address:?}: {error}"))?;
    Ok(MappedService { namespace, name, address })
}

/// How long the server may take to end.
const END: Duration = Duration::from_secs(4);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = Runtime::new().map_err(Failure::System).and_then(|runtime| {
        let result = runtime.block_on(run(arguments));
        // What blocks a thread must not block the end of the process.
        runtime.shutdown_background();
        result
    });
    let Err(error) = result else { return ExitCode::SUCCESS };
    let flag = match error {
        Failure::Serve(ServeError::NotLoopback(_) | ServeError::Listen { .. }) => "--listen: ",
        Failure::Serve(ServeError::Kubeconfig { .. }) => "--kubeconfig: ",
        Failure::Data(_) | Failure::Serve(ServeError::DataDirectory(_)) => "--data: ",
        Failure::Serve(ServeError::Credentials(_))
        | Failure::Write(_)
        | Failure::System(_)
        | Failure::Late => "",
    };
    eprintln!("error: {flag}{error}");
    ExitCode::FAILURE
}

/// Why the program ends.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Data(#[from] DataDirectoryError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("{0}")]
    Write(String),
    #[error("cannot start: {0}")]
    System(io::Error),
    #[error("the server did not end in time, or there was another signal")]
    Late,
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments {
        listen,
        kubeconfig,
        data,
        storage_mib,
        rbac,
        users,
        simulate_workloads,
        without_controller_manager,
        sharded_lists,
        services,
    } = arguments;
    let builder = Server::builder().storage(storage_mib.saturating_mul(1 << 20));
    let mut builder = if rbac { builder.rbac() } else { builder };
    builder = if without_controller_manager {
        builder.without_controller_manager()
    } else {
        builder.namespace_defaults()
    };
    if simulate_workloads {
        builder = builder.simulate_workloads(WorkloadTiming::default());
    }
    if sharded_lists {
        builder = builder.sharded_lists();
    }
    for MappedService { namespace, name, address } in services {
        builder = builder.service(&namespace, &name, address);
    }
    let server = match &data {
        Some(directory) => builder.start_in(directory)?,
        None => builder.start(),
    };
    let usual = || data.map_or_else(|| "operetta.kubeconfig".into(), |it| it.join("kubeconfig"));
    let kubeconfig = kubeconfig.unwrap_or_else(usual);
    let mut running = server.serve(listen)?;
    users.iter().try_for_each(|user| running.add_user(user))?;
    running.write_kubeconfig(&kubeconfig)?;
    let mut signals = Signals::new().map_err(Failure::System)?;
    println!("The embedded Kubernetes API server listens on https://{}", running.address());
    println!("export KUBECONFIG={}", kubeconfig.display());
    let ended = tokio::select! {
        () = signals.next() => Ok(()),
        why = server.persistence_failure() => Err(Failure::Write(why)),
    };
    let closing = async {
        running.stop().await;
        server.close().await;
    };
    tokio::select! {
        closed = tokio::time::timeout(END, closing) => closed.map_err(|_| Failure::Late)?,
        () = signals.next() => return Err(Failure::Late),
    }
    ended
}

/// Ctrl-C and SIGTERM, from when it is made.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
