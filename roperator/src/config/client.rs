//! How a program reaches the API server.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Error;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster,
    NamedContext,
};

use super::{Credentials, KubeConfig, KubeConfigError};

const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The name by which every Pod reaches the API server.
const API_SERVER: &str = "https://kubernetes.default.svc";

/// The address of an API server, and who the program is to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientConfig {
    /// The URL, with the port unless it is that of the scheme.
    pub api_server_endpoint: String,
    /// How the program authenticates.
    pub credentials: Credentials,
    /// The certificate authority of the server; `None` for those of the system.
    pub ca_data: Option<CAData>,
    /// What requests name as the program.
    pub user_agent: String,
    /// Whether the certificate of the server is checked; never `false` outside of tests.
    pub verify_ssl_certs: bool,
    /// The user as whom requests are sent.
    pub impersonate: Option<String>,
    /// The groups of that user.
    pub impersonate_groups: Vec<String>,
}

/// A certificate authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CAData {
    /// A file, as PEM.
    File(PathBuf),
    /// PEM in base64, as in a kubeconfig.
    Contents(String),
}

impl ClientConfig {
    /// The service account of the Pod that the program runs in.
    ///
    /// # Errors
    /// It has no token.
    pub fn from_service_account(user_agent: impl Into<String>) -> Result<Self, io::Error> {
        Self::of_service_account(Path::new(SERVICE_ACCOUNT), user_agent.into())
    }

    /// The current context of `$KUBECONFIG`, by default `~/.kube/config`.
    ///
    /// # Errors
    /// There is no such file, or it has no usable context.
    pub fn from_kubeconfig(user_agent: impl Into<String>) -> Result<Self, KubeConfigError> {
        let (kubeconfig, file) = KubeConfig::load()?;
        let folder = file.parent().unwrap_or(Path::new("."));
        kubeconfig.create_client_config(user_agent.into(), folder)
    }

    fn of_service_account(folder: &Path, user_agent: String) -> Result<Self, io::Error> {
        let (token, ca) = (folder.join("token"), folder.join("ca.crt"));
        let in_context = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot read {}: {error}", token.display()))
        };
        std::fs::read(&token).map_err(in_context)?;
        Ok(Self {
            api_server_endpoint: API_SERVER.to_owned(),
            credentials: Credentials::token_file(&token.to_string_lossy()),
            ca_data: ca.exists().then_some(CAData::File(ca)),
            user_agent,
            verify_ssl_certs: true,
            impersonate: None,
            impersonate_groups: Vec::new(),
        })
    }

    /// The same as `kube` has it.
    ///
    /// # Errors
    /// A file cannot be read, or something is not what it should be.
    pub(crate) async fn kube_config(&self) -> Result<kube::Config, Error> {
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(self.kubeconfig(), &options);
        let mut config = config.await?;
        // The schedule of a parent retries.
        config.default_retry = false;
        config.headers.extend(self.credentials.header()?);
        Ok(config)
    }

    fn kubeconfig(&self) -> Kubeconfig {
        let name = || "roperator".to_owned();
        let (cluster, auth_info) = (Some(self.cluster()), Some(self.user()));
        let context = Context { cluster: name(), user: Some(name()), ..Context::default() };
        Kubeconfig {
            clusters: vec![NamedCluster { name: name(), cluster, ..<_>::default() }],
            auth_infos: vec![NamedAuthInfo { name: name(), auth_info, ..<_>::default() }],
            contexts: vec![NamedContext { name: name(), context: Some(context), ..<_>::default() }],
            current_context: Some(name()),
            ..Kubeconfig::default()
        }
    }

    fn cluster(&self) -> Cluster {
        let (certificate_authority, certificate_authority_data) = match &self.ca_data {
            Some(CAData::File(file)) => (Some(file.to_string_lossy().into_owned()), None),
            Some(CAData::Contents(base64)) => (None, Some(base64.clone())),
            None => (None, None),
        };
        Cluster {
            server: Some(self.api_server_endpoint.clone()),
            insecure_skip_tls_verify: Some(!self.verify_ssl_certs),
            certificate_authority,
            certificate_authority_data,
            ..Cluster::default()
        }
    }

    fn user(&self) -> AuthInfo {
        let groups = Some(self.impersonate_groups.clone()).filter(|groups| !groups.is_empty());
        let user = self.credentials.user();
        AuthInfo {
            impersonate: self.impersonate.clone(),
            impersonate_groups: groups.filter(|_| self.impersonate.is_some()),
            ..user
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ClientConfig {
        ClientConfig {
            api_server_endpoint: "http://127.0.0.1:1".to_owned(),
            credentials: Credentials::raw_bearer_token("t0ken"),
            ca_data: None,
            user_agent: "cook".to_owned(),
            verify_ssl_certs: true,
            impersonate: Some("somebody".to_owned()),
            impersonate_groups: vec!["cooks".to_owned()],
        }
    }

    #[tokio::test]
    async fn the_address_the_token_and_the_impersonated_user_reach_kube() {
        let kube = config().kube_config().await.unwrap();
        assert_eq!(kube.cluster_url.to_string(), "http://127.0.0.1:1/");
        assert_eq!(kube.headers.len(), 1);
        assert_eq!(kube.auth_info.impersonate.as_deref(), Some("somebody"));
        assert_eq!(kube.auth_info.impersonate_groups, Some(vec!["cooks".to_owned()]));
        assert!(!kube.accept_invalid_certs && !kube.default_retry);
        let unchecked = ClientConfig { verify_ssl_certs: false, ..config() };
        assert!(unchecked.kube_config().await.unwrap().accept_invalid_certs);
    }

    #[tokio::test]
    async fn a_file_that_is_missing_is_named() {
        let ca_data = Some(CAData::File("/nonexistent/ca.crt".into()));
        let error = ClientConfig { ca_data, ..config() }.kube_config().await.unwrap_err();
        assert!(format!("{error:#}").contains("/nonexistent/ca.crt"), "{error:#}");
    }

    #[test]
    fn a_service_account_names_its_file_so_that_a_new_token_is_read() {
        let folder = std::env::temp_dir().join(format!("roperator-{}", std::process::id()));
        let of_folder = || ClientConfig::of_service_account(&folder, "cook".to_owned());
        let missing = of_folder().unwrap_err().to_string();
        assert!(missing.contains("/token"), "{missing}");
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["token", "ca.crt"] {
            std::fs::write(folder.join(file), "t0ken").unwrap();
        }
        let config = of_folder().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(config.ca_data, Some(CAData::File(folder.join("ca.crt"))));
        let token = folder.join("token").to_string_lossy().into_owned();
        assert_eq!(config.credentials, Credentials::token_file(&token));
    }
}
