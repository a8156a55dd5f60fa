//! Where a webhook is: the `clientConfig` of a configuration, and the Services that are mapped.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

/// The addresses at which Services answer, by namespace and name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Services(BTreeMap<(String, String), SocketAddr>);

/// What is to be called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    /// Host and port as the configuration names them.
    pub(super) host: String,
    /// The name that the certificate must have.
    pub(super) name: String,
    pub(super) path: String,
    /// The Service, if it is one: namespace and name.
    service: Option<(String, String)>,
    /// The certificates that are trusted, in PEM.
    pub(super) bundle: Vec<u8>,
}

impl Services {
    /// Maps a Service.
    pub(crate) fn map(&mut self, namespace: &str, name: &str, address: SocketAddr) {
        self.0.insert((namespace.to_owned(), name.to_owned()), address);
    }
}

impl Target {
    /// The target of a `clientConfig`.
    pub(crate) fn of(config: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let bundle = STANDARD.decode(text(&config["caBundle"])).unwrap_or_default();
        let service = &config["service"];
        if service.is_object() {
            let (namespace, name) = (text(&service["namespace"]), text(&service["name"]));
            let server = format!("{name}.{namespace}.svc");
            let port = service["port"].as_u64().unwrap_or(443);
            return Self {
                host: format!("{server}:{port}"),
                name: server,
                path: rooted(&text(&service["path"])),
                service: Some((namespace, name)),
                bundle,
            };
        }
        let url = text(&config["url"]);
        let rest = url.strip_prefix("https://").unwrap_or(&url);
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        Self {
            host: host.to_owned(),
            name: split_port(host).0,
            path: rooted(path),
            service: None,
            bundle,
        }
    }

    /// The URL that messages name.
    pub(super) fn url(&self, query: &str) -> String {
        format!("https://{}{}{query}", self.host, self.path)
    }

    /// The address to connect to, or why there is none.
    pub(super) fn address(&self, services: &Services) -> Result<SocketAddr, String> {
        if let Some((namespace, name)) = &self.service {
            let mapped = services.0.get(&(namespace.clone(), name.clone()));
            return mapped.copied().ok_or_else(|| format!("service \"{name}\" not found"));
        }
        let (name, port) = split_port(&self.host);
        let address = match name.as_str() {
            "localhost" => Some(IpAddr::from([127, 0, 0, 1])),
            other => other.parse().ok(),
        };
        let is_local = |address: &IpAddr| address.is_loopback();
        address.filter(is_local).map(|address| SocketAddr::new(address, port)).ok_or_else(|| {
            format!(
                "dial tcp {name}:{port}: the embedded API server calls webhooks on loopback \
                 addresses and mapped services only"
            )
        })
    }
}

fn rooted(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

fn split_port(host: &str) -> (String, u16) {
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (bare(name), port.parse().unwrap_or_default()),
        _ => (bare(host), 443),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_loopback_addresses_and_mapped_services_are_called() {
        let address = |config: Value, services: &Services| {
            Target::of(&config).address(services).map(|address| address.to_string())
        };
        let mut services = Services::default();
        let local = |url: &str| address(json!({ "url": url }), &Services::default());
        assert_eq!(local("https://127.0.0.1:8443/x"), Ok("127.0.0.1:8443".to_owned()));
        assert_eq!(local("https://[::1]/x"), Ok("[::1]:443".to_owned()));
        assert_eq!(local("https://localhost:1"), Ok("127.0.0.1:1".to_owned()));
        assert!(local("https://10.0.0.1/x").is_err());
        assert!(local("https://example.com/x").is_err());
        let service = json!({ "service": { "namespace": "ns", "name": "hook", "path": "x" } });
        let missing = Err("service \"hook\" not found".to_owned());
        assert_eq!(address(service.clone(), &services), missing);
        services.map("ns", "hook", SocketAddr::from(([127, 0, 0, 1], 9)));
        assert_eq!(Target::of(&service).url("?a"), "https://hook.ns.svc:443/x?a");
        assert_eq!(address(service, &services), Ok("127.0.0.1:9".to_owned()));
    }
}
