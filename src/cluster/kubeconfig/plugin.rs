//! Runs the credential plugin of a user (`exec`), and keeps what it issued until that expires or is refused.
//!
//! Nothing that a plugin prints is shown: it may be secret. Only a plugin that asks somebody at a terminal prints there.

use std::{
    io::{self, IsTerminal},
    process::{Output, Stdio},
    time::{Duration, Instant},
};

use http::HeaderValue;
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use tokio::{process::Command, sync::Mutex, time::timeout};

use super::{authority::encoded, user::pair};

/// How long a plugin may take, and one that asks somebody.
const PATIENCE: Duration = Duration::from_mins(1);
const PATIENCE_WITH_USERS: Duration = Duration::from_mins(5);
/// It is not run again earlier.
const AT_MOST_EVERY: Duration = Duration::from_secs(10);
/// New credentials are asked for this long before the end of the old ones.
const AHEAD: Duration = Duration::from_secs(10);

/// The credentials that the plugin of one connection issued.
#[derive(Debug, Default)]
pub(crate) struct Plugin(Mutex<Option<Issued>>);

#[derive(Debug)]
struct Issued {
    /// The plugin with its arguments.
    exec: serde_json::Value,
    at: Instant,
    credentials: Result<Credentials, String>,
}

#[derive(Debug, Clone)]
struct Credentials {
    token: Option<SecretString>,
    /// A certificate and its key, in PEM.
    identity: Option<(String, SecretString)>,
    expires: Option<Timestamp>,
}

impl Plugin {
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
        let mut issued = self.0.lock().await;
        // Its parts are strings, which can be JSON.
        let wanted = serde_json::to_value(exec).unwrap_or_default();
        if let Some(known) = issued.as_ref().filter(|known| known.exec == wanted) {
            let is_new = known.at.elapsed() < AT_MOST_EVERY;
            if is_new || (!is_refused && known.is_valid()) {
                return known.credentials.clone();
            }
        }
        let credentials = run(exec).await;
        let at = Instant::now();
        *issued = Some(Issued { exec: wanted, at, credentials: credentials.clone() });
        credentials
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

async fn run(exec: &ExecConfig) -> Result<Credentials, String> {
    let name = exec.command.as_deref().unwrap_or_default();
    let failed = |why: String| format!("its plugin {name:?} {why}");
    let is_interactive = is_interactive(exec, io::stdin().is_terminal()).map_err(failed)?;
    let patience = if is_interactive { PATIENCE_WITH_USERS } else { PATIENCE };
    let output = match timeout(patience, command(exec, is_interactive).output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(why)) => return Err(failed(format!("cannot be run: {why}{}", hint(exec, &why)))),
        Err(_) => return Err(failed(format!("has not ended within {} s", patience.as_secs()))),
    };
    read(exec, &output).map_err(failed)
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
    command.args(exec.args.iter().flatten()).stdout(Stdio::piped()).kill_on_drop(true);
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

fn hint(exec: &ExecConfig, why: &io::Error) -> String {
    let hint = exec.install_hint.as_deref().filter(|_| why.kind() == io::ErrorKind::NotFound);
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    hint.map(|hint| format!("; {}", hint.trim().chars().map(shown).collect::<String>()))
        .unwrap_or_default()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    kind: Option<String>,
    api_version: Option<String>,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<Time>,
}

/// The credentials in what a plugin printed.
fn read(exec: &ExecConfig, output: &Output) -> Result<Credentials, String> {
    if !output.status.success() {
        return Err(format!("failed: {}", output.status));
    }
    let json = serde_json::from_slice(&output.stdout).ok();
    // Plugins may print YAML.
    let answer: Option<Answer> = json.or_else(|| serde_yaml_ng::from_slice(&output.stdout).ok());
    let answer = answer.filter(|answer| answer.kind.as_deref() == Some("ExecCredential"));
    let answer = answer.ok_or("printed no ExecCredential")?;
    if answer.api_version != exec.api_version {
        let wanted = exec.api_version.as_deref().unwrap_or_default();
        return Err(format!("answered in another version than {wanted}"));
    }
    let status = answer.status.ok_or("printed no `status`")?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = filled(status.token);
    if token.as_ref().is_some_and(|token| HeaderValue::from_str(token).is_err()) {
        return Err("printed a token with a character that no header can carry".to_owned());
    }
    let identity = match (filled(status.client_certificate_data), filled(status.client_key_data)) {
        (Some(certificate), Some(key)) => {
            pair(certificate.as_bytes(), key.as_bytes()).map_err(|why| format!("failed: {why}"))?;
            Some((certificate, key.into()))
        }
        (None, None) => None,
        _ => return Err("printed a certificate without its key, or a key alone".to_owned()),
    };
    if token.is_none() && identity.is_none() {
        return Err("printed no token and no certificate".to_owned());
    }
    let expires = status.expiration_timestamp.map(|Time(at)| at);
    Ok(Credentials { token: token.map(Into::into), identity, expires })
}
