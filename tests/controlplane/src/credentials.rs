//! The credentials of the administrator and the test users, as files and as `kube` configurations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kube::config::AuthInfo;
use serde_json::{Value, json};

use crate::Error;
use crate::certificates::Certificates;
use crate::home::{Home, random_hex};
use crate::options::User;

pub(crate) struct Credentials {
    server_url: http::Uri,
    authority_der: Vec<u8>,
    admin_kubeconfig: PathBuf,
    users: BTreeMap<String, Account>,
}

struct Account {
    token: String,
    kubeconfig: PathBuf,
}

/// The files that kube-apiserver and kube-controller-manager read.
pub(crate) mod file {
    pub(crate) const AUTHORITY: &str = "ca.crt";
    pub(crate) const SERVER_CERTIFICATE: &str = "server.crt";
    pub(crate) const SERVER_KEY: &str = "server.key";
    pub(crate) const ADMIN_CERTIFICATE: &str = "admin.crt";
    pub(crate) const ADMIN_KEY: &str = "admin.key";
    pub(crate) const SERVICE_ACCOUNT_PUBLIC: &str = "service-account.pub";
    pub(crate) const SERVICE_ACCOUNT_KEY: &str = "service-account.key";
    pub(crate) const TOKENS: &str = "tokens.csv";
    pub(crate) const ADMIN_KUBECONFIG: &str = "admin.kubeconfig";
}

impl Credentials {
    /// Makes every key and token and writes the files into the home.
    pub(crate) fn write(home: &Home, server_url: http::Uri, users: &[User]) -> Result<Self, Error> {
        let certificates = Certificates::generate()?;
        write_certificates(home, &certificates)?;
        let users = write_users(home, &server_url, users)?;
        let identity = json!({
            "client-certificate": home.join(file::ADMIN_CERTIFICATE),
            "client-key": home.join(file::ADMIN_KEY),
        });
        let content = kubeconfig(home, &server_url, "admin", &identity);
        let admin_kubeconfig = home.write(file::ADMIN_KUBECONFIG, &content)?;
        let authority_der = certificates.authority_der;
        Ok(Self { server_url, authority_der, admin_kubeconfig, users })
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.admin_kubeconfig
    }

    pub(crate) fn kubeconfig_for(&self, user: &str) -> Result<&Path, Error> {
        Ok(&self.account(user)?.kubeconfig)
    }

    pub(crate) fn token(&self, user: &str) -> Result<&str, Error> {
        Ok(&self.account(user)?.token)
    }

    pub(crate) fn config(&self, home: &Home) -> kube::Config {
        let path = |name| Some(home.join(name).to_string_lossy().into_owned());
        self.config_with(AuthInfo {
            client_certificate: path(file::ADMIN_CERTIFICATE),
            client_key: path(file::ADMIN_KEY),
            ..AuthInfo::default()
        })
    }

    pub(crate) fn config_for(&self, user: &str) -> Result<kube::Config, Error> {
        let token = Some(self.token(user)?.to_owned().into());
        Ok(self.config_with(AuthInfo { token, ..AuthInfo::default() }))
    }

    fn config_with(&self, auth_info: AuthInfo) -> kube::Config {
        let mut config = kube::Config::new(self.server_url.clone());
        config.root_cert = Some(vec![self.authority_der.clone()]);
        config.auth_info = auth_info;
        config
    }

    fn account(&self, user: &str) -> Result<&Account, Error> {
        self.users.get(user).ok_or_else(|| Error::UnknownUser(user.to_owned()))
    }
}

fn write_certificates(home: &Home, certificates: &Certificates) -> Result<(), Error> {
    home.write(file::AUTHORITY, &certificates.authority)?;
    home.write(file::SERVER_CERTIFICATE, &certificates.server.public)?;
    home.write(file::SERVER_KEY, &certificates.server.private)?;
    home.write(file::ADMIN_CERTIFICATE, &certificates.admin.public)?;
    home.write(file::ADMIN_KEY, &certificates.admin.private)?;
    home.write(file::SERVICE_ACCOUNT_PUBLIC, &certificates.service_account.public)?;
    home.write(file::SERVICE_ACCOUNT_KEY, &certificates.service_account.private)?;
    Ok(())
}

fn write_users(
    home: &Home,
    server_url: &http::Uri,
    users: &[User],
) -> Result<BTreeMap<String, Account>, Error> {
    let mut accounts = BTreeMap::new();
    let mut rows = Vec::new();
    for (number, user) in users.iter().enumerate() {
        let token = random_hex()?;
        let groups = user.groups.join(",");
        rows.push(format!("{token},\"{}\",{},\"{groups}\"\n", user.name, random_hex()?));
        let content = kubeconfig(home, server_url, &user.name, &json!({ "token": token }));
        let kubeconfig = home.write(&format!("user-{number}.kubeconfig"), &content)?;
        accounts.insert(user.name.clone(), Account { token, kubeconfig });
    }
    home.write(file::TOKENS, &rows.concat())?;
    Ok(accounts)
}

/// JSON is YAML, so paths and tokens need no quoting here.
fn kubeconfig(home: &Home, server_url: &http::Uri, user: &str, identity: &Value) -> String {
    let name = "controlplane";
    let server = server_url.to_string();
    let server = server.trim_end_matches('/');
    let cluster = json!({ "server": server, "certificate-authority": home.join(file::AUTHORITY) });
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": name, "cluster": cluster }],
        "users": [{ "name": user, "user": identity }],
        "contexts": [{ "name": name, "context": { "cluster": name, "user": user } }],
        "current-context": name,
    });
    format!("{config:#}\n")
}
