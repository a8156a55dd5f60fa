//! The command lines of the three programs.

use crate::credentials::file;
use crate::home::Home;
use crate::options::Options;

/// The loopback ports of one control plane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) etcd_peer: u16,
    pub(crate) api_server: u16,
}

pub(crate) const AUDIT_POLICY_FILE: &str = "audit-policy.json";
/// The folder of the data of etcd.
pub(crate) const ETCD_DATA: &str = "etcd";
pub(crate) const AUDIT_LOG: &str = "audit.log";
/// A line when a request is received, before it is answered, and one per response; a watch writes one of these when
/// it starts and one when it ends. What writes of Leases send is there too: it says who may write meanwhile.
pub(crate) const AUDIT_POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
 "rules": [
  {"level": "Request", "verbs": ["create", "update", "patch"],
   "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]},
  {"level": "Metadata"}
 ]}
"#;

pub(crate) fn etcd(home: &Home, ports: Ports) -> Vec<String> {
    vec![
        format!("-data-dir={}", home.join(ETCD_DATA).display()),
        format!("-client-url=http://127.0.0.1:{}", ports.etcd),
        format!("-peer-url=http://127.0.0.1:{}", ports.etcd_peer),
    ]
}

pub(crate) fn kube_apiserver(home: &Home, ports: Ports, options: &Options) -> Vec<String> {
    let at = |flag: &str, name: &str| format!("--{flag}={}", home.join(name).display());
    let mut flags = vec![
        format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
        format!("--secure-port={}", ports.api_server),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        // A loopback address is refused as an endpoint: without this it is tried, and logged, every ten seconds.
        "--endpoint-reconciler-type=none".into(),
        at("cert-dir", "kube-apiserver"),
        at("tls-cert-file", file::SERVER_CERTIFICATE),
        at("tls-private-key-file", file::SERVER_KEY),
        at("client-ca-file", file::AUTHORITY),
        at("token-auth-file", file::TOKENS),
        at("service-account-key-file", file::SERVICE_ACCOUNT_PUBLIC),
        at("service-account-signing-key-file", file::SERVICE_ACCOUNT_KEY),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        "--service-cluster-ip-range=10.0.0.0/16".into(),
        "--authorization-mode=RBAC".into(),
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement".into(),
        "--disable-admission-plugins=ServiceAccount".into(),
        // As where operators run: their pods may ask for it.
        "--allow-privileged=true".into(),
    ];
    if options.audit {
        flags.push(at("audit-policy-file", AUDIT_POLICY_FILE));
        flags.push(at("audit-log-path", AUDIT_LOG));
        // A request waits until its line is written: who sees an effect of it finds the line.
        flags.push("--audit-log-mode=blocking".into());
        // Megabytes. By default the log begins again after 100, which the tests of one run write.
        flags.push("--audit-log-maxsize=4000".into());
    }
    if !options.feature_gates.is_empty() {
        flags.push(format!("--feature-gates={}", options.feature_gates.join(",")));
    }
    flags.extend(options.api_server_flags.iter().cloned());
    flags
}

pub(crate) fn kube_controller_manager(home: &Home, options: &Options) -> Vec<String> {
    let at = |flag: &str, name: &str| format!("--{flag}={}", home.join(name).display());
    let mut flags = vec![
        at("kubeconfig", file::ADMIN_KUBECONFIG),
        "--controllers=*".into(),
        at("service-account-private-key-file", file::SERVICE_ACCOUNT_KEY),
        at("root-ca-file", file::AUTHORITY),
        "--leader-elect=false".into(),
        // By default it collects 20 objects a second, and the remains of one test would delay the next.
        "--kube-api-qps=1000".into(),
        "--kube-api-burst=1000".into(),
        // It has no clients, so it serves nothing.
        "--secure-port=0".into(),
    ];
    flags.extend(options.controller_manager_flags.iter().cloned());
    flags
}
