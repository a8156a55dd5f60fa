//! The credentials of a user, in the one form that kube reads as kubectl does.

use std::fs;

use http::HeaderValue;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    authority::{data_or_file, encoded, filled, named},
    error::unread,
};

/// The versions of a plugin's answer.
const V1: &str = "client.authentication.k8s.io/v1";
const V1BETA1: &str = "client.authentication.k8s.io/v1beta1";

/// The same credentials in that form; the error does not quote them.
pub(super) fn normal(user: AuthInfo) -> Result<AuthInfo, String> {
    let user = without_empty(user);
    contradictions(&user)?;
    let user = identity(user)?;
    let mut user = bearer(user)?;
    user.exec = user.exec.map(plugin).transpose()?;
    if let Some(provider) = &user.auth_provider {
        provider_exists(&provider.name)?;
    }
    Ok(user)
}

fn without_empty(user: AuthInfo) -> AuthInfo {
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    let file = |file: Option<String>| file.filter(|file| named(Some(file)).is_some());
    let secret = |it: Option<SecretString>| it.filter(|it| !it.expose_secret().is_empty());
    let (username, password) = (text(user.username), secret(user.password));
    // A name or a password alone is sent with an empty other half.
    let is_basic = username.is_some() || password.is_some();
    AuthInfo {
        username: username.or(is_basic.then(String::new)),
        password: password.or(is_basic.then(|| String::new().into())),
        token: secret(user.token),
        token_file: file(user.token_file),
        client_certificate: file(user.client_certificate),
        client_certificate_data: text(user.client_certificate_data),
        client_key: file(user.client_key),
        client_key_data: secret(user.client_key_data),
        impersonate: text(user.impersonate),
        impersonate_uid: text(user.impersonate_uid),
        ..user
    }
}

fn contradictions(user: &AuthInfo) -> Result<(), String> {
    let has_groups = user.impersonate_groups.as_ref().is_some_and(|it| !it.is_empty());
    let has_extra = user.impersonate_user_extra.as_ref().is_some_and(|it| !it.is_empty());
    let is_further = has_groups || has_extra || user.impersonate_uid.is_some();
    if user.token.is_some() && user.username.is_some() {
        return Err("it has a token and a password: remove one".to_owned());
    }
    if is_further && user.impersonate.is_none() {
        return Err("`as-uid`, `as-groups` and `as-user-extra` need `as`".to_owned());
    }
    if user.exec.is_some() && user.auth_provider.is_some() {
        return Err("`exec` and `auth-provider` are both set: remove one".to_owned());
    }
    let groups = user.impersonate_groups.iter().flatten();
    let extra = user.impersonate_user_extra.iter().flatten().flat_map(|(_, values)| values);
    let sent = [&user.impersonate, &user.impersonate_uid].into_iter().flatten();
    if !sent.chain(groups).chain(extra).all(|it| HeaderValue::from_str(it).is_ok()) {
        return Err("who it impersonates has a character that no header can carry".to_owned());
    }
    Ok(())
}

/// A certificate with its key. A key alone counts for nothing.
fn identity(user: AuthInfo) -> Result<AuthInfo, String> {
    let fields = ["client-certificate-data", "client-certificate"];
    let data = user.client_certificate_data.as_deref();
    let Some(certificate) = data_or_file(fields, data, user.client_certificate.as_deref())? else {
        return Ok(AuthInfo { client_key: None, client_key_data: None, ..user });
    };
    let fields = ["client-key-data", "client-key"];
    let data = user.client_key_data.as_ref().map(ExposeSecret::expose_secret);
    let key = data_or_file(fields, data, user.client_key.as_deref())?;
    let key = key.ok_or("its client certificate has no `client-key` or `client-key-data`")?;
    pair(&certificate, &key)?;
    Ok(AuthInfo {
        client_certificate_data: user.client_certificate_data.map(|_| encoded(&certificate)),
        client_key_data: user.client_key_data.map(|_| encoded(&key).into()),
        ..user
    })
}

/// Whether a certificate and a key can be used together.
pub(super) fn pair(certificate: &[u8], key: &[u8]) -> Result<(), String> {
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|_| "its client certificate is not PEM")?;
    if chain.is_empty() {
        return Err("its client certificate holds no certificate in PEM".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key);
    let key = key.map_err(|_| "its client key holds no private key in PEM")?;
    let together = CertifiedKey::from_der(chain, key, &ring::default_provider());
    let cannot = |error| format!("its client certificate and key cannot be used together: {error}");
    together.map(drop).map_err(cannot)
}

/// The token, without line breaks around it. The token of a readable file precedes the inline token. kube reads a file
/// again once a minute and sends its content as it is, so that kube gets only files without line breaks.
fn bearer(user: AuthInfo) -> Result<AuthInfo, String> {
    let Some(file) = &user.token_file else { return checked(user) };
    let content = match fs::read_to_string(file) {
        Ok(content) => content,
        Err(_) if user.token.is_some() => return checked(AuthInfo { token_file: None, ..user }),
        Err(why) => return Err(unread("`tokenFile`", file, &why)),
    };
    let token = content.trim();
    if token.is_empty() && user.token.is_none() {
        return Err(format!("`tokenFile` {file} is empty"));
    }
    if HeaderValue::from_str(token).is_err() {
        return Err(format!("`tokenFile` {file} has a character that no header can carry"));
    }
    match token {
        "" => checked(AuthInfo { token_file: None, ..user }),
        token if token == content => Ok(AuthInfo { token: None, ..user }),
        token => Ok(AuthInfo { token: Some(token.to_owned().into()), token_file: None, ..user }),
    }
}

fn checked(user: AuthInfo) -> Result<AuthInfo, String> {
    let token = user.token.as_ref().map(ExposeSecret::expose_secret);
    if token.is_some_and(|token| HeaderValue::from_str(token).is_err()) {
        let why = "`token` has a line break or another character that no header can carry";
        return Err(why.to_owned());
    }
    Ok(user)
}

fn plugin(exec: ExecConfig) -> Result<ExecConfig, String> {
    let version = filled(exec.api_version.as_deref()).ok_or("`exec` has no `apiVersion`")?;
    filled(exec.command.as_deref()).ok_or("`exec` has no `command`")?;
    if version != V1 && version != V1BETA1 {
        return Err(format!("the `apiVersion` of `exec` is neither {V1} nor {V1BETA1}"));
    }
    let is_named = |env: &std::collections::HashMap<String, String>| {
        env.get("name").is_some_and(|name| !name.is_empty())
    };
    if !exec.env.iter().flatten().all(is_named) {
        return Err("a variable in `env` of `exec` has no `name`".to_owned());
    }
    let usual = (version == V1BETA1).then_some(ExecInteractiveMode::IfAvailable);
    let mode = exec.interactive_mode.clone().or(usual).ok_or("`exec` has no `interactiveMode`")?;
    Ok(ExecConfig { interactive_mode: Some(mode), ..exec })
}

/// Those that kubectl had once are plugins of their own now.
fn provider_exists(name: &str) -> Result<(), String> {
    match name {
        "oidc" => Ok(()),
        "gcp" => Err("`auth-provider` gcp was removed from Kubernetes: use the plugin \
                      gke-gcloud-auth-plugin in `exec`"
            .to_owned()),
        "azure" => Err("`auth-provider` azure was removed from Kubernetes: use the plugin \
                        kubelogin in `exec`"
            .to_owned()),
        _ => Err("its `auth-provider` does not exist: use a plugin in `exec`".to_owned()),
    }
}
