//! A running control plane: its processes start and end together.

use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::audit::AuditLog;
use crate::binaries::Binaries;
use crate::blocking::block_on;
use crate::credentials::Credentials;
use crate::flags::{self, Ports};
use crate::home::Home;
use crate::options::Options;
use crate::process::Process;
use crate::{AuditEvent, Backup, Error, etcd};

const READY_WITHIN: Duration = Duration::from_mins(2);
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(50);
const ATTEMPTS: usize = 3;

/// etcd, kube-apiserver and kube-controller-manager on loopback. Dropping it ends them and removes their files; they
/// also end when this process does, however that happens.
pub struct ControlPlane {
    // Dropped in this order: clients before servers, the files last.
    controller_manager: Mutex<Option<Process>>,
    api_server: Mutex<Process>,
    etcd: Mutex<Process>,
    credentials: Credentials,
    audit: Mutex<AuditLog>,
    server_url: String,
    ports: Ports,
    options: Options,
    binaries: Binaries,
    home: Home,
}

impl ControlPlane {
    /// Starts a control plane with default options and waits until it is ready. Blocks; needs no runtime.
    pub fn start() -> Result<Self, Error> {
        Self::start_with(&Options::default())
    }

    /// Starts a control plane and waits until it is ready. Blocks; needs no runtime.
    pub fn start_with(options: &Options) -> Result<Self, Error> {
        let binaries = Binaries::find_of(options.version)?;
        for _ in 1..ATTEMPTS {
            match Self::start_once(&binaries, options) {
                Err(error) if error.is_port_taken() => {}
                started => return started,
            }
        }
        Self::start_once(&binaries, options)
    }

    /// The administrator's kubeconfig. Only this user may read it.
    pub fn kubeconfig_path(&self) -> &Path {
        self.credentials.kubeconfig()
    }

    /// The kubeconfig of a test user.
    pub fn kubeconfig_for(&self, user: &str) -> Result<&Path, Error> {
        self.credentials.kubeconfig_for(user)
    }

    /// The bearer token of a test user.
    pub fn user_token(&self, user: &str) -> Result<&str, Error> {
        self.credentials.token(user)
    }

    /// The administrator's configuration for `kube`.
    pub fn kube_config(&self) -> kube::Config {
        self.credentials.config(&self.home)
    }

    /// A test user's configuration for `kube`.
    pub fn kube_config_for(&self, user: &str) -> Result<kube::Config, Error> {
        self.credentials.config_for(user)
    }

    /// A client of the administrator. It belongs to the runtime that this is called in.
    pub fn client(&self) -> Result<kube::Client, Error> {
        Ok(kube::Client::try_from(self.kube_config())?)
    }

    /// A client of a test user. It belongs to the runtime that this is called in.
    pub fn client_for(&self, user: &str) -> Result<kube::Client, Error> {
        Ok(kube::Client::try_from(self.kube_config_for(user)?)?)
    }

    /// The address of kube-apiserver, such as `https://127.0.0.1:6443`.
    pub fn server_url(&self) -> &str {
        &self.server_url
    }

    /// The kubectl of the same version.
    pub fn kubectl(&self) -> PathBuf {
        self.binaries.program("kubectl")
    }

    /// A kubectl command for the administrator that does not use the user's own kubectl configuration and cache.
    pub fn kubectl_command(&self) -> Command {
        let mut command = Command::new(self.kubectl());
        command.env("KUBECONFIG", self.kubeconfig_path());
        command.env("KUBECACHEDIR", self.home.join("kubectl-cache"));
        command
    }

    /// The folder with the logs, kubeconfigs and keys of this control plane.
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    /// The ids of the running processes.
    pub fn process_ids(&self) -> Vec<u32> {
        let manager = locked(&self.controller_manager, |p| p.as_ref().map(Process::id));
        manager
            .into_iter()
            .chain([locked(&self.api_server, |p| p.id()), locked(&self.etcd, |p| p.id())])
            .collect()
    }

    /// Every request answered so far, oldest first, of all clients: filter by user agent or user.
    ///
    /// Whoever has seen an effect of a request finds it here: this blocks until every request is answered that was
    /// received before, also one that an admission webhook holds. It waits for no watch: a client that has the answer
    /// to its watch finds that here too. What a killed kube-apiserver had not answered is missing.
    pub fn audit_events(&self) -> Result<Vec<AuditEvent>, Error> {
        if !self.options.audit {
            return Err(Error::NoAuditLog);
        }
        locked(&self.audit, AuditLog::events)
    }

    /// Compacts etcd to its newest revision and returns it. kube-apiserver keeps answering
    /// from its watch cache: a watch of an old version gets 410 only after [`Self::restart_apiserver`] too.
    pub fn compact(&self) -> Result<i64, Error> {
        block_on(etcd::compact(self.ports.etcd))
    }

    /// Kills kube-apiserver, which cuts every connection, and starts it again with an empty watch cache. Blocks
    /// until it is ready.
    pub fn restart_apiserver(&self) -> Result<(), Error> {
        locked(&self.api_server, |process| {
            process.stop();
            locked(&self.audit, AuditLog::end_of_server)?;
            *process = start_api_server(&self.binaries, &self.home, self.ports, &self.options)?;
            locked(&self.etcd, |etcd| wait_until_ready(process, etcd, self.kube_config()))
        })
    }

    /// Replaces the certificate authority and every certificate, key and token, in the files of before, as when an
    /// administrator renews a cluster. Restarts kube-apiserver and kube-controller-manager; blocks until it is ready.
    pub fn renew_credentials(&mut self) -> Result<(), Error> {
        let users = &self.options.users;
        self.credentials = Credentials::write(&self.home, uri(&self.server_url), users)?;
        locked(&self.controller_manager, |manager| *manager = None);
        self.restart_apiserver()?;
        let manager = start_controller_manager(&self.binaries, &self.home, &self.options)?;
        locked(&self.controller_manager, |stopped| *stopped = manager);
        Ok(())
    }

    /// An error, with the last lines of the log, once one of the programs has ended by itself.
    pub fn check(&mut self) -> Result<(), Error> {
        locked(&self.etcd, Process::check)?;
        locked(&self.api_server, Process::check)?;
        locked(&self.controller_manager, |p| p.as_mut().map_or(Ok(()), Process::check))
    }

    /// Copies the data of etcd. Restarts everything, which cuts every connection; blocks until it is ready.
    pub fn backup(&self) -> Result<Backup, Error> {
        let backup = Backup::new(&self.home)?;
        self.while_stopped(|data| backup.take(data))?;
        Ok(backup)
    }

    /// Restores the data of etcd, as after a disaster: resource versions regress, and later writes are lost. Restarts
    /// everything, which cuts every connection; blocks until it is ready.
    pub fn restore(&self, backup: &Backup) -> Result<(), Error> {
        self.while_stopped(|data| backup.put_back(data))
    }

    /// Uses the files of etcd while no program runs.
    fn while_stopped(&self, what: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
        let (binaries, home, options) = (&self.binaries, &self.home, &self.options);
        let restart = |manager: &mut Option<Process>, api: &mut Process, etcd: &mut Process| {
            *manager = None;
            api.stop();
            locked(&self.audit, AuditLog::end_of_server)?;
            etcd.stop();
            what(&home.join(flags::ETCD_DATA))?;
            *etcd = start_etcd(binaries, home, self.ports)?;
            *api = start_api_server(binaries, home, self.ports, options)?;
            wait_until_ready(api, etcd, self.kube_config())?;
            *manager = start_controller_manager(binaries, home, options)?;
            Ok(())
        };
        locked(&self.controller_manager, |manager| {
            locked(&self.api_server, |api| locked(&self.etcd, |etcd| restart(manager, api, etcd)))
        })
    }

    fn start_once(binaries: &Binaries, options: &Options) -> Result<Self, Error> {
        let home = Home::create()?;
        let ports = free_ports()?;
        let server_url = format!("https://127.0.0.1:{}", ports.api_server);
        let credentials = Credentials::write(&home, uri(&server_url), &options.users)?;
        home.write(flags::AUDIT_POLICY_FILE, flags::AUDIT_POLICY)?;
        let mut etcd = start_etcd(binaries, &home, ports)?;
        let mut api_server = start_api_server(binaries, &home, ports, options)?;
        wait_until_ready(&mut api_server, &mut etcd, credentials.config(&home))?;
        let controller_manager = start_controller_manager(binaries, &home, options)?;
        Ok(Self {
            controller_manager: Mutex::new(controller_manager),
            api_server: Mutex::new(api_server),
            etcd: Mutex::new(etcd),
            credentials,
            audit: Mutex::new(AuditLog::new(home.join(flags::AUDIT_LOG))),
            server_url,
            ports,
            options: options.clone(),
            binaries: binaries.clone(),
            home,
        })
    }
}

impl fmt::Debug for ControlPlane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlPlane").field("server_url", &self.server_url).finish_non_exhaustive()
    }
}

/// Ignores the poison of a test that panicked: other tests use the processes too.
fn locked<P, T>(process: &Mutex<P>, ask: impl FnOnce(&mut P) -> T) -> T {
    ask(&mut process.lock().unwrap_or_else(PoisonError::into_inner))
}

fn start_etcd(binaries: &Binaries, home: &Home, ports: Ports) -> Result<Process, Error> {
    Process::start("etcd", &binaries.program("etcd"), &flags::etcd(home, ports), home)
}

fn start_api_server(
    binaries: &Binaries,
    home: &Home,
    ports: Ports,
    options: &Options,
) -> Result<Process, Error> {
    let name = "kube-apiserver";
    Process::start(
        name,
        &binaries.program(name),
        &flags::kube_apiserver(home, ports, options),
        home,
    )
}

fn start_controller_manager(
    binaries: &Binaries,
    home: &Home,
    options: &Options,
) -> Result<Option<Process>, Error> {
    if !options.controller_manager {
        return Ok(None);
    }
    let name = "kube-controller-manager";
    let flags = flags::kube_controller_manager(home, options);
    Process::start(name, &binaries.program(name), &flags, home).map(Some)
}

/// Free ports. All are bound until the last is chosen, so that they differ.
fn free_ports() -> Result<Ports, Error> {
    let listen = || {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| Ok((listener.local_addr()?.port(), listener)))
            .map_err(|source| Error::Io { what: "choosing a port".into(), source })
    };
    let (etcd, etcd_peer, api_server) = (listen()?, listen()?, listen()?);
    Ok(Ports { etcd: etcd.0, etcd_peer: etcd_peer.0, api_server: api_server.0 })
}

fn wait_until_ready(
    api_server: &mut Process,
    etcd: &mut Process,
    config: kube::Config,
) -> Result<(), Error> {
    block_on(async {
        let client = kube::Client::try_from(config)?;
        let started = Instant::now();
        loop {
            etcd.check()?;
            api_server.check()?;
            let Err(not_yet) = ask_if_ready(&client).await else { return Ok(()) };
            if started.elapsed() > READY_WITHIN {
                let (last, log) = (not_yet.to_string(), api_server.tail());
                return Err(Error::NotReady { waited: started.elapsed(), last, log });
            }
            tokio::time::sleep(BETWEEN_QUESTIONS).await;
        }
    })
}

/// `/readyz` does not wait for the first namespaces, and tests write into one.
async fn ask_if_ready(client: &kube::Client) -> Result<(), kube::Error> {
    for path in ["/readyz", "/api/v1/namespaces/default"] {
        client.request_text(get(path)).await?;
    }
    Ok(())
}

fn get(path: &str) -> http::Request<Vec<u8>> {
    http::Request::get(path).body(Vec::new()).expect("a path makes a request")
}

fn uri(server_url: &str) -> http::Uri {
    server_url.parse().expect("a scheme, an address and a port are a URI")
}
