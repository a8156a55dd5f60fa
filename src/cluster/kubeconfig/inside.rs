//! The service account of the Pod that the process runs in.

use std::{env, fs, net::IpAddr, path::Path};

use http::Uri;
use kube::Config;

use super::{authority::certificates, error::unread};

/// Where Kubernetes mounts it.
pub(super) const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The address of the API server, from the environment of every container.
pub(super) fn address() -> Result<Uri, String> {
    let variable = |name: &str| {
        let value = env::var(name).ok().filter(|value| !value.is_empty());
        value.ok_or_else(|| format!("{name} is not set"))
    };
    at(&variable("KUBERNETES_SERVICE_HOST")?, &variable("KUBERNETES_SERVICE_PORT")?)
}

fn at(host: &str, port: &str) -> Result<Uri, String> {
    let is_ipv6 = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6());
    let host = if is_ipv6 { format!("[{host}]") } else { host.to_owned() };
    let malformed =
        |_| "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are no address".to_owned();
    format!("https://{host}:{port}/").parse().map_err(malformed)
}

/// The configuration of the service account in this folder.
pub(super) fn config(address: Uri, folder: &Path) -> Result<Config, String> {
    let read = |what: &str, name: &str| {
        let file = folder.join(name);
        fs::read_to_string(&file).map_err(|why| unread(what, file, &why))
    };
    let (token, ca) = (read("the token", "token")?, read("the CA", "ca.crt")?);
    let namespace = read("the namespace", "namespace")?;
    let in_file = |name: &str, why: &str| format!("{}: {why}", folder.join(name).display());
    let mut config = Config::new(address);
    let roots = certificates(ca.as_bytes()).map_err(|why| in_file("ca.crt", &why))?;
    config.root_cert = Some(roots);
    config.root_cert_file = Some(folder.join("ca.crt"));
    namespace.trim().clone_into(&mut config.default_namespace);
    if token.trim().is_empty() {
        return Err(in_file("token", "it is empty"));
    }
    config.auth_info.token_file = Some(folder.join("token").display().to_string());
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_may_be_of_any_kind() {
        for (host, port, expected) in [
            ("10.96.0.1", "443", "https://10.96.0.1:443/"),
            ("fd00::1", "6443", "https://[fd00::1]:6443/"),
            ("kubernetes.default.svc", "443", "https://kubernetes.default.svc:443/"),
        ] {
            assert_eq!(at(host, port).unwrap().to_string(), expected);
        }
        assert!(at("10.96.0.1", "no port").is_err());
    }
}
