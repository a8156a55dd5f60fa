//! Reads the configuration of a client as kubectl reads it, and says which file and which entry are wrong before the
//! first request is sent.
//!
//! ```text
//! files --> merged --> chosen context --> cluster: address, authority, proxy --.
//!                                    '--> user: in the form that kube reads ----+--> Config, and the plugin to run
//! ```
//!
//! kube reads a file and merges two; it does not see an empty value, a line break in base64 or around a token, a list with
//! a missing file, nor `NO_PROXY`, and its errors quote what it reads.

mod address;
mod authority;
mod chosen;
mod error;
mod files;
mod inside;
mod plugin;
mod proxy;
mod user;

#[cfg(test)]
mod tests;

use std::{
    env,
    path::{Path, PathBuf},
};

use kube::{
    Config,
    config::{AuthInfo, Cluster, ExecAuthCluster},
};
use rustls::pki_types::ServerName;

pub(crate) use self::plugin::Plugin;
use self::{
    address::address,
    authority::{authority, filled},
    chosen::{Chosen, choose},
    error::KubeconfigError,
    files::{files, read},
    proxy::Environment,
    user::normal,
};
pub(super) use self::{authority::encoded, plugin::is_expiring};
use super::uri_user::{user_of, without_user};

/// A configuration, and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    pub(crate) config: Config,
    /// The user and the file, for errors.
    pub(crate) user: String,
}

/// The configuration of a context: of this file, or of those that kubectl would read.
pub(crate) fn of_kubeconfig(
    file: Option<&Path>,
    context: Option<&str>,
) -> Result<Login, KubeconfigError> {
    let files = files(file, env::var_os("KUBECONFIG").as_deref())?;
    of_files(&files, context, &Environment::of_process())
}

/// A configuration that a program made. What kubectl would not read is refused, as in a kubeconfig.
pub(crate) fn of_config(mut config: Config) -> Result<Login, String> {
    let named = config.proxy_url.as_ref().map(|named| proxy::proxy(&named.to_string()));
    config.proxy_url = named.transpose().map_err(|why| format!("its `proxy_url` {why}"))?;
    config.auth_info = normal(config.auth_info)?;
    Ok(Login { config: with_user_of_address(config), user: "the configuration".to_owned() })
}

/// The configuration of the Pod that the process runs in.
pub(crate) fn of_pod() -> Result<Login, String> {
    let mut config = inside::config(inside::address()?, Path::new(inside::FOLDER))?;
    config.proxy_url = Environment::of_process().proxy_for(&config.cluster_url)?;
    config.auth_info = normal(config.auth_info)?;
    config.default_retry = false;
    Ok(Login { config, user: "the service account of the Pod".to_owned() })
}

fn of_files(
    files: &[PathBuf],
    context: Option<&str>,
    environment: &Environment,
) -> Result<Login, KubeconfigError> {
    let chosen = choose(&read(files)?, context)?;
    let Chosen { context, cluster, cluster_entry, user, user_entry } = chosen;
    let is_wrong = |why: String| cluster_entry.is_wrong(why);
    let mut user = normal(user).map_err(|why| user_entry.is_wrong(why))?;
    let roots = authority(&cluster).map_err(is_wrong)?;
    if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
        exec.cluster = Some(passed(&cluster).map_err(is_wrong)?);
    }
    let is_insecure = cluster.insecure_skip_tls_verify == Some(true);
    let has_identity = user.client_certificate.is_some() || user.client_certificate_data.is_some();
    let server = filled(cluster.server.as_deref());
    let server = server.ok_or_else(|| cluster_entry.is_wrong("it has no `server`"))?;
    let is_secure = roots.is_some() || has_identity || is_insecure;
    let server = address(server, is_secure).map_err(is_wrong)?;
    let mut config = Config::new(server);
    config.proxy_url = match filled(cluster.proxy_url.as_deref()) {
        Some(named) => {
            Some(proxy::proxy(named).map_err(|why| is_wrong(format!("`proxy-url` {why}")))?)
        }
        None => environment.proxy_for(&config.cluster_url).map_err(is_wrong)?,
    };
    config.tls_server_name = server_name(&cluster).map_err(is_wrong)?;
    (config.root_cert, config.accept_invalid_certs) = (roots, is_insecure);
    config.disable_compression = cluster.disable_compression == Some(true);
    if let Some(namespace) = filled(context.namespace.as_deref()) {
        namespace.clone_into(&mut config.default_namespace);
    }
    (config.auth_info, config.default_retry) = (user, false);
    Ok(Login { config: with_user_of_address(config), user: user_entry.to_string() })
}

/// A name and a password in the address count before other credentials but a certificate, as with kubectl.
fn with_user_of_address(mut config: Config) -> Config {
    let Some((name, password)) = user_of(&config.cluster_url) else { return config };
    config.cluster_url = without_user(&config.cluster_url);
    config.auth_info = AuthInfo {
        username: Some(name),
        password: Some(password.into()),
        token: None,
        token_file: None,
        auth_provider: None,
        ..config.auth_info
    };
    config
}

fn server_name(cluster: &Cluster) -> Result<Option<String>, String> {
    let Some(name) = filled(cluster.tls_server_name.as_deref()) else { return Ok(None) };
    let malformed = |_| "`tls-server-name` is no name of a server".to_owned();
    ServerName::try_from(name.to_owned()).map_err(malformed)?;
    Ok(Some(name.to_owned()))
}

/// What a plugin learns of the cluster, with the authority as data.
fn passed(cluster: &Cluster) -> Result<ExecAuthCluster, String> {
    let fields = ["certificate-authority-data", "certificate-authority"];
    let data = cluster.certificate_authority_data.as_deref();
    let pem = authority::data_or_file(fields, data, cluster.certificate_authority.as_deref())?;
    let plain = Cluster {
        certificate_authority: None,
        certificate_authority_data: pem.as_deref().map(encoded),
        ..cluster.clone()
    };
    ExecAuthCluster::try_from(&plain).map_err(|_| "it cannot be passed to a plugin".to_owned())
}
