//! The certificate of the endpoint, by which others verify it: the Secret that has it, who makes it, and what reads it.
//!
//! The Secret has the keys of cert-manager: `tls.crt`, `tls.key`, and `ca.crt` to verify with. kustomize cannot make a
//! certificate: without the component `tls` the process makes a self-signed one, which nobody can verify.

use serde_json::{Value, json};

/// The argument of a process without the Secret.
pub(super) const SELF_SIGNED: &str = "--tls-self-signed";

/// Where the Pods have the Secret.
const FOLDER: &str = "/tls";

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

/// What makes cert-manager write the Secret: an issuer of its own, and the certificate.
pub(super) fn issued(metadata: &Value, host: &str, secret: &str) -> [Value; 2] {
    let version = "cert-manager.io/v1";
    let issuer = json!({"kind": "Issuer", "name": metadata["name"]});
    let names = [host.to_owned(), format!("{host}.cluster.local"), "localhost".to_owned()];
    let certificate = json!({
        "commonName": metadata["name"],
        "dnsNames": names,
        "issuerRef": issuer,
        "privateKey": {"algorithm": "ECDSA", "size": 256},
        "secretName": secret,
    });
    [
        json!({"apiVersion": version, "kind": "Issuer", "metadata": metadata, "spec": {"selfSigned": {}}}),
        json!({"apiVersion": version, "kind": "Certificate", "metadata": metadata, "spec": certificate}),
    ]
}
