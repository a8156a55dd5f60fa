//! The certificate of the endpoint: the Secret that has it, its creator, and its readers.
//!
//! The Secret has the keys of cert-manager: `tls.crt`, `tls.key`, and `ca.crt` to verify with. kustomize cannot make a
//! certificate: without the component `tls` the process makes a self-signed one, which nobody can verify.

use serde_json::{Value, json};

/// The argument of a process without the Secret.
pub(super) const SELF_SIGNED: &str = "--tls-self-signed";

/// Where the Pods have the Secret.
const FOLDER: &str = "/tls";

/// As the chart makes its authority.
const TEN_YEARS: &str = "87600h";

/// The arguments of a process with the Secret.
pub(super) fn args() -> [String; 2] {
    [format!("--tls-cert={FOLDER}/tls.crt"), format!("--tls-key={FOLDER}/tls.key")]
}

/// The volume of a Pod.
pub(super) fn volume(secret: &str) -> Value {
    json!({"name": "tls", "secret": {"secretName": secret}})
}

/// Where the container has it.
pub(super) fn mount() -> Value {
    json!({"name": "tls", "mountPath": FOLDER, "readOnly": true})
}

/// How Prometheus verifies the endpoint, which it reaches by the address of a Pod.
pub(super) fn verification(host: &str, secret: &str) -> Value {
    json!({"ca": {"secret": {"name": secret, "key": "ca.crt"}}, "serverName": host})
}

/// What makes cert-manager write the Secret. An authority signs the certificate: Prometheus reads its own at other times
/// than the process, and a self-signed one would be unknown to it after each renewal.
pub(super) fn issued(metadata: &Value, hosts: &[String], secret: &str) -> [Value; 4] {
    let name = metadata["name"].as_str().unwrap_or_default();
    let (own, authority) = (format!("{name}-self-signed"), format!("{name}-ca"));
    let object = |kind: &str, name: &str, spec: Value| {
        let mut metadata = metadata.clone();
        metadata["name"] = json!(name);
        json!({"apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": metadata, "spec": spec})
    };
    let signed = |issuer: &str, name: &str, secret: &str| {
        json!({
            "commonName": name,
            "issuerRef": {"kind": "Issuer", "name": issuer},
            "privateKey": {"algorithm": "ECDSA", "size": 256},
            "secretName": secret,
        })
    };
    let mut root = signed(&own, &authority, &authority);
    root["isCA"] = json!(true);
    root["duration"] = json!(TEN_YEARS);
    let mut leaf = signed(name, name, secret);
    let inside = hosts.iter().flat_map(|host| [host.clone(), format!("{host}.cluster.local")]);
    leaf["dnsNames"] = inside.chain(["localhost".to_owned()]).collect();
    [
        object("Issuer", &own, json!({"selfSigned": {}})),
        object("Certificate", &authority, root),
        object("Issuer", name, json!({"ca": {"secretName": authority}})),
        object("Certificate", name, leaf),
    ]
}
