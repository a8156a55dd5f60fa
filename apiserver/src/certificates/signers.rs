//! The signers of Kubernetes, and what each of them signs.

use super::request::Request;

/// What a signer signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Certificates of clients.
    Client,
    /// Certificates of kubelets as clients.
    KubeletClient,
    /// Certificates of kubelets as servers.
    KubeletServing,
    /// Anything.
    Unknown,
}

impl Kind {
    /// The signer of a name; `None` for one that is not of Kubernetes.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "kubernetes.io/kube-apiserver-client" => Some(Self::Client),
            "kubernetes.io/kube-apiserver-client-kubelet" => Some(Self::KubeletClient),
            "kubernetes.io/kubelet-serving" => Some(Self::KubeletServing),
            "kubernetes.io/legacy-unknown" => Some(Self::Unknown),
            _ => None,
        }
    }

    /// Why the signer does not sign a request.
    pub(super) fn check(self, request: &Request, usages: &[&str]) -> Result<(), String> {
        match self {
            Self::Client => check_client(usages),
            Self::KubeletClient => check_kubelet_client(request, usages),
            Self::KubeletServing => check_kubelet_serving(request, usages),
            Self::Unknown => Ok(()),
        }
    }
}

fn check_client(usages: &[&str]) -> Result<(), String> {
    const ALLOWED: [&str; 3] = ["digital signature", "key encipherment", "client auth"];
    if let Some(other) = usages.iter().find(|usage| !ALLOWED.contains(usage)) {
        return Err(format!("invalid usage for client certificate: {other}"));
    }
    if usages.contains(&"client auth") {
        return Ok(());
    }
    Err("missing required usage for client certificate: client auth".to_owned())
}

fn check_kubelet_client(request: &Request, usages: &[&str]) -> Result<(), String> {
    check_organization(request)?;
    let names = &request.names;
    for (count, what) in
        [(names.dns, "DNS"), (names.email, "Email"), (names.address, "IP"), (names.uri, "URI")]
    {
        if count > 0 {
            return Err(format!("{what} subjectAltNames are not allowed"));
        }
    }
    check_name(request)?;
    check_usages(usages, "client auth")
}

fn check_kubelet_serving(request: &Request, usages: &[&str]) -> Result<(), String> {
    check_organization(request)?;
    let names = &request.names;
    if names.dns + names.address == 0 {
        return Err("DNS or IP subjectAltName is required".to_owned());
    }
    for (count, what) in [(names.email, "Email"), (names.uri, "URI")] {
        if count > 0 {
            return Err(format!("{what} subjectAltNames are not allowed"));
        }
    }
    check_usages(usages, "server auth")?;
    check_name(request)
}

fn check_organization(request: &Request) -> Result<(), String> {
    if request.organizations == ["system:nodes"] {
        return Ok(());
    }
    Err("subject organization is not system:nodes".to_owned())
}

fn check_name(request: &Request) -> Result<(), String> {
    if request.common_name.starts_with("system:node:") {
        return Ok(());
    }
    Err("subject common name does not begin with system:node:".to_owned())
}

/// Keys that are not of RSA encipher nothing.
fn check_usages(usages: &[&str], purpose: &str) -> Result<(), String> {
    let mut required = vec!["digital signature", "key encipherment", purpose];
    required.sort_unstable();
    let mut given = usages.to_vec();
    given.sort_unstable();
    given.dedup();
    let without: Vec<&str> =
        required.iter().copied().filter(|usage| *usage != "key encipherment").collect();
    if given == required || given == without {
        return Ok(());
    }
    Err(format!("usages did not match [{}]", required.join(" ")))
}
