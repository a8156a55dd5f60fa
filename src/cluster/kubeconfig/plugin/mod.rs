//! Runs the credential plugin of a user (`exec`), and keeps what it issued until that expires or is refused.
//!
//! Nothing that a plugin prints is shown: it may be secret. Only a plugin that asks somebody at a terminal prints there.

mod answer;
mod process;

use std::{
    io::{self, IsTerminal},
    process::Stdio,
    time::{Duration, Instant},
};

use k8s_openapi::jiff::Timestamp;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use serde_json::json;
use tokio::{process::Command, sync::Mutex};

use self::{
    answer::{Credentials, read},
    process::{Failed, Output, Running, run},
};
use super::authority::encoded;

/// How long a plugin may take, and an interactive plugin.
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_WITH_USERS: Duration = Duration::from_mins(5);
/// It is not run again earlier.
const AT_MOST_EVERY: Duration = Duration::from_secs(10);
/// New credentials are asked for this long before the end of the old ones.
const AHEAD: Duration = Duration::from_secs(10);

/// The plugin of one connection, and the credentials that it issued.
#[derive(Debug)]
pub(crate) struct Plugin {
    /// How long it may take, unless it asks somebody.
    patience: Duration,
    running: Running,
    issued: Mutex<Option<Issued>>,
}

#[derive(Debug)]
struct Issued {
    /// The plugin with its arguments.
    exec: serde_json::Value,
    at: Instant,
    credentials: Result<Credentials, String>,
}

impl Default for Plugin {
    fn default() -> Self {
        Self::within(PATIENCE)
    }
}

impl Plugin {
    pub(super) fn within(patience: Duration) -> Self {
        Self { patience, running: Running::default(), issued: Mutex::default() }
    }

    /// Kills the plugin if it runs. It is not run again.
    pub(crate) fn end(&self) {
        self.running.end();
    }

    /// The user with what the plugin issued, and when that expires. Without a plugin, or beside other credentials, which
    /// count before it, the user as they are.
    pub(crate) async fn log_in(
        &self,
        mut user: AuthInfo,
        is_refused: bool,
    ) -> Result<(AuthInfo, Option<Timestamp>), String> {
        let has_others = user.token.is_some()
            || user.token_file.is_some()
            || user.username.is_some()
            || user.client_certificate.is_some()
            || user.client_certificate_data.is_some();
        let Some(exec) = user.exec.take().filter(|_| !has_others) else { return Ok((user, None)) };
        let Credentials { token, identity, expires } = self.issue(&exec, is_refused).await?;
        user.token = token;
        if let Some((certificate, key)) = identity {
            user.client_certificate_data = Some(encoded(certificate.as_bytes()));
            user.client_key_data =
                Some(encoded(secrecy::ExposeSecret::expose_secret(&key).as_bytes()).into());
        }
        Ok((user, expires))
    }

    async fn issue(&self, exec: &ExecConfig, is_refused: bool) -> Result<Credentials, String> {
        let mut issued = self.issued.lock().await;
        // Its parts are strings, which can be JSON.
        let wanted = serde_json::to_value(exec).unwrap_or_default();
        if let Some(known) = issued.as_ref().filter(|known| known.exec == wanted) {
            let is_new = known.at.elapsed() < AT_MOST_EVERY;
            if is_new || (!is_refused && known.is_valid()) {
                return known.credentials.clone();
            }
        }
        let credentials = self.run(exec).await.map_err(|why| named(exec, &why));
        let at = Instant::now();
        *issued = Some(Issued { exec: wanted, at, credentials: credentials.clone() });
        credentials
    }

    async fn run(&self, exec: &ExecConfig) -> Result<Credentials, String> {
        let is_interactive = is_interactive(exec, io::stdin().is_terminal())?;
        let patience = if is_interactive { PATIENCE_WITH_USERS } else { self.patience };
        tracing::info!(plugin = exec.command, "the credential plugin is run");
        let ended = run(command(exec, is_interactive), is_interactive, patience, &self.running);
        let Output { status, printed } = ended.await.map_err(|why: Failed| why.to_string())?;
        if status.success() { read(exec, &printed) } else { Err(format!("failed: {status}")) }
    }
}

impl Issued {
    fn is_valid(&self) -> bool {
        let expires = self.credentials.as_ref().map(|it| it.expires);
        expires.is_ok_and(|expires| !is_expiring(expires, Timestamp::now()))
    }
}

/// Whether credentials are to be renewed.
pub(crate) fn is_expiring(expires: Option<Timestamp>, now: Timestamp) -> bool {
    expires
        .is_some_and(|expires| expires.duration_since(now) <= AHEAD.try_into().unwrap_or_default())
}

/// The plugin with its problem and the hint of its kubeconfig, without its arguments, which may be secret.
fn named(exec: &ExecConfig, why: &str) -> String {
    let name = exec.command.as_deref().unwrap_or_default();
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let hint = exec.install_hint.as_deref().map(str::trim).filter(|hint| !hint.is_empty());
    let hint = hint.map(|hint| format!("; {}", hint.chars().map(shown).collect::<String>()));
    format!("its plugin {name:?} {why}{}", hint.unwrap_or_default())
}

/// Whether the plugin may ask somebody.
fn is_interactive(exec: &ExecConfig, has_terminal: bool) -> Result<bool, String> {
    match exec.interactive_mode {
        Some(ExecInteractiveMode::Always) if !has_terminal => {
            Err("asks somebody at a terminal, and there is none".to_owned())
        }
        Some(ExecInteractiveMode::Always) => Ok(true),
        Some(ExecInteractiveMode::Never) => Ok(false),
        Some(ExecInteractiveMode::IfAvailable) | None => Ok(has_terminal),
    }
}

fn command(exec: &ExecConfig, is_interactive: bool) -> Command {
    let mut command = Command::new(exec.command.as_deref().unwrap_or_default());
    command.args(exec.args.iter().flatten()).stdout(Stdio::piped());
    for variable in exec.env.iter().flatten() {
        if let Some(name) = variable.get("name") {
            command.env(name, variable.get("value").map_or("", String::as_str));
        }
    }
    command.env("KUBERNETES_EXEC_INFO", info(exec, is_interactive));
    let of_terminal = || if is_interactive { Stdio::inherit() } else { Stdio::null() };
    command.stdin(of_terminal()).stderr(of_terminal());
    command
}

/// What is passed to a plugin.
fn info(exec: &ExecConfig, is_interactive: bool) -> String {
    let mut spec = json!({"interactive": is_interactive});
    if let Some(cluster) = exec.cluster.as_ref().filter(|_| exec.provide_cluster_info) {
        spec["cluster"] = json!(cluster);
    }
    json!({"kind": "ExecCredential", "apiVersion": exec.api_version, "spec": spec}).to_string()
}
