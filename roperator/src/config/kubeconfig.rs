//! Reads a kubeconfig.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use kube::config::{AuthInfo, Cluster, Kubeconfig, KubeconfigError};
use serde::Deserialize;

use super::{CAData, ClientConfig, Credentials};

/// A kubeconfig. [`ClientConfig::from_kubeconfig`] is enough for most programs.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct KubeConfig(Kubeconfig);

/// A kubeconfig cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KubeConfigError {
    /// The file cannot be read.
    #[error("cannot read the kubeconfig: {0}")]
    Io(#[from] io::Error),
    /// It is not YAML. Not returned: see [`KubeConfigError::InvalidKubeconfig`].
    #[error("not a kubeconfig: {0}")]
    Format(#[from] serde_yaml_ng::Error),
    /// The user of the current context has no credentials.
    #[error("the user of the current context of the kubeconfig has no credentials")]
    MissingCredentials,
    /// There is no home directory, and `$KUBECONFIG` is not set.
    #[error("no kubeconfig: there is no home directory, and KUBECONFIG is not set")]
    NoHomeDir,
    /// It is not a kubeconfig, or lacks what its current context names.
    #[error("invalid kubeconfig: {0}")]
    InvalidKubeconfig(String),
    /// A plugin for credentials has failed. Not returned: it is run when the program connects.
    #[error("the plugin of the kubeconfig has failed: {0}")]
    ExecErr(String),
}

impl KubeConfig {
    /// The kubeconfig of `$KUBECONFIG`, by default `~/.kube/config`, and its file. Several files in the
    /// variable are merged; the first is returned.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load() -> Result<(Self, PathBuf), KubeConfigError> {
        let file = default_file().ok_or(KubeConfigError::NoHomeDir)?;
        Ok((Self(Kubeconfig::read()?), file))
    }

    /// The kubeconfig of this file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn load_file(path: &Path) -> Result<Self, KubeConfigError> {
        Ok(Self(Kubeconfig::read_from(path)?))
    }

    /// The cluster and the user of the current context. Relative files are those of
    /// `kubeconfig_parent_dir`.
    ///
    /// # Errors
    /// A part of the context is missing.
    pub fn create_client_config(
        &self,
        user_agent: String,
        kubeconfig_parent_dir: &Path,
    ) -> Result<ClientConfig, KubeConfigError> {
        let user = self.user()?;
        if is_anonymous(user) {
            return Err(KubeConfigError::MissingCredentials);
        }
        let credentials = Credentials::User(Box::new(within(kubeconfig_parent_dir, user.clone())));
        let config = self.client_config(user_agent, kubeconfig_parent_dir, credentials)?;
        let impersonate = user.impersonate.clone();
        let impersonate_groups = user.impersonate_groups.clone().unwrap_or_default();
        Ok(ClientConfig { impersonate, impersonate_groups, ..config })
    }

    /// The same with other credentials than those of the user.
    ///
    /// # Errors
    /// A part of the context is missing.
    pub fn create_client_config_with_credentials(
        &self,
        user_agent: String,
        kubeconfig_parent_dir: &Path,
        credentials: Credentials,
    ) -> Result<ClientConfig, KubeConfigError> {
        self.client_config(user_agent, kubeconfig_parent_dir, credentials)
    }

    fn client_config(
        &self,
        user_agent: String,
        folder: &Path,
        credentials: Credentials,
    ) -> Result<ClientConfig, KubeConfigError> {
        let cluster = self.cluster()?;
        let server = cluster.server.clone();
        let file = cluster.certificate_authority.as_deref();
        let file = file.map(|file| CAData::File(folder.join(file)));
        let data = cluster.certificate_authority_data.clone().map(CAData::Contents);
        Ok(ClientConfig {
            api_server_endpoint: server.ok_or_else(|| invalid("the cluster has no server"))?,
            credentials,
            ca_data: data.or(file),
            user_agent,
            verify_ssl_certs: cluster.insecure_skip_tls_verify != Some(true),
            impersonate: None,
            impersonate_groups: Vec::new(),
        })
    }

    fn cluster(&self) -> Result<&Cluster, KubeConfigError> {
        let name = &self.context()?.cluster;
        let named = self.0.clusters.iter().find(|cluster| cluster.name == *name);
        let cluster = named.and_then(|named| named.cluster.as_ref());
        cluster.ok_or_else(|| invalid(&format!("there is no cluster `{name}`")))
    }

    fn user(&self) -> Result<&AuthInfo, KubeConfigError> {
        let name = self.context()?.user.as_deref().ok_or(KubeConfigError::MissingCredentials)?;
        let named = self.0.auth_infos.iter().find(|user| user.name == name);
        let user = named.and_then(|named| named.auth_info.as_ref());
        user.ok_or_else(|| invalid(&format!("there is no user `{name}`")))
    }

    fn context(&self) -> Result<&kube::config::Context, KubeConfigError> {
        let name = self.0.current_context.as_deref();
        let name = name.ok_or_else(|| invalid("it has no current-context"))?;
        let named = self.0.contexts.iter().find(|context| context.name == name);
        let context = named.and_then(|named| named.context.as_ref());
        context.ok_or_else(|| invalid(&format!("there is no context `{name}`")))
    }
}

fn default_file() -> Option<PathBuf> {
    let listed = std::env::var_os("KUBECONFIG");
    let files = listed.iter().flat_map(std::env::split_paths);
    let first = files.into_iter().find(|file| !file.as_os_str().is_empty());
    first.or_else(|| Some(std::env::home_dir()?.join(".kube/config")))
}

fn invalid(why: &str) -> KubeConfigError {
    KubeConfigError::InvalidKubeconfig(why.to_owned())
}

fn is_anonymous(user: &AuthInfo) -> bool {
    let texts = [&user.username, &user.token_file, &user.client_certificate];
    let is_some = texts.iter().any(|text| text.is_some())
        || user.client_certificate_data.is_some()
        || user.token.is_some()
        || user.exec.is_some()
        || user.auth_provider.is_some();
    !is_some
}

/// The user with its files in a folder.
fn within(folder: &Path, mut user: AuthInfo) -> AuthInfo {
    let files = [&mut user.token_file, &mut user.client_certificate, &mut user.client_key];
    for file in files.into_iter().flatten() {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    user
}

impl From<KubeconfigError> for KubeConfigError {
    fn from(error: KubeconfigError) -> Self {
        match error {
            KubeconfigError::FindPath => Self::NoHomeDir,
            KubeconfigError::ReadConfig(why, file) => {
                Self::Io(io::Error::new(why.kind(), format!("{}: {why}", file.display())))
            }
            // Its text may quote the file.
            KubeconfigError::Parse(error) => {
                let line = error.location().map(|at| format!(" (line {})", at.line()));
                let why = "it is not YAML, or not in the form of a kubeconfig";
                Self::InvalidKubeconfig(format!("{why}{}", line.unwrap_or_default()))
            }
            error => Self::InvalidKubeconfig(error.to_string()),
        }
    }
}

impl fmt::Debug for KubeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeConfig")
            .field("context", &self.0.current_context)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(user: &str) -> KubeConfig {
        let yaml = format!(
            "{{current-context: a, contexts: [{{name: a, context: {{cluster: c, user: u}}}}], \
              clusters: [{{name: c, cluster: {{server: 'https://h', certificate-authority: ca}}}}], \
              users: [{{name: u, user: {{{user}}}}}]}}",
        );
        serde_yaml_ng::from_str(&yaml).unwrap()
    }

    fn config(user: &str) -> Result<ClientConfig, KubeConfigError> {
        kubeconfig(user).create_client_config("cook".to_owned(), Path::new("/folder"))
    }

    #[test]
    fn the_current_context_is_read_and_files_are_those_of_its_folder() {
        let config = config("tokenFile: t, as: somebody, as-groups: [cooks]").unwrap();
        assert_eq!(config.api_server_endpoint, "https://h");
        assert_eq!(config.ca_data, Some(CAData::File("/folder/ca".into())));
        assert_eq!(config.impersonate.as_deref(), Some("somebody"));
        assert_eq!(config.impersonate_groups, ["cooks"]);
        assert!(config.verify_ssl_certs);
        let Credentials::User(user) = config.credentials else { panic!("no user of a kubeconfig") };
        assert_eq!(user.token_file.as_deref(), Some("/folder/t"));
    }

    #[test]
    fn other_credentials_take_the_place_of_those_of_the_user() {
        let token = Credentials::raw_bearer_token("t0ken");
        let config = kubeconfig("").create_client_config_with_credentials(
            "cook".to_owned(),
            Path::new("/folder"),
            token.clone(),
        );
        assert_eq!(config.unwrap().credentials, token);
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(matches!(config(""), Err(KubeConfigError::MissingCredentials)));
        let empty: KubeConfig = serde_yaml_ng::from_str("{current-context: b}").unwrap();
        let error = empty.create_client_config("cook".to_owned(), Path::new("/")).unwrap_err();
        assert_eq!(error.to_string(), "invalid kubeconfig: there is no context `b`");
        let error = KubeConfig::load_file(Path::new("/nonexistent/kubeconfig")).unwrap_err();
        assert!(
            matches!(&error, KubeConfigError::Io(why) if why.to_string().contains("/nonexistent"))
        );
    }
}
