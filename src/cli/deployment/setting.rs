//! What differs between the manifests of kustomize and the templates of the chart.

use serde_json::{Value, json};

use super::tls;
use crate::cli::{deployed::Deployed, header::flag};

/// The port of the endpoint in a Pod.
pub(super) const PORT: u16 = 8443;

/// The audience of tokens for the endpoint: what Prometheus and users send there is worth nothing at the API server.
pub(super) const AUDIENCE: &str = "operetta";

/// The scrape class of Prometheus that sends a token with this audience.
pub(super) const SCRAPE_CLASS: &str = "operetta";

/// Names and values of the manifests. For the chart they are templates between `<<` and `>>`, which YAML does not
/// quote; [`super::chart`] makes braces of them.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) image: String,
    pub(super) pull_policy: Value,
    pub(super) replicas: Value,
    pub(super) strategy: String,
    pub(super) args: Value,
    pub(super) resources: Value,
    pub(super) volumes: Value,
    pub(super) mounts: Value,
    /// The Secret with the certificate.
    pub(super) secret: String,
    pub(super) verification: Value,
    pub(super) scrape_class: String,
    /// Who may reach the endpoint.
    pub(super) peers: Value,
}

impl Setting {
    /// One replica, which overlays change, and no certificate, which a component adds. Two processes without a leader
    /// election must never run at once, not even during the rollout of a new version.
    pub(super) fn kustomize(deployed: &Deployed, only: &[String]) -> Self {
        let Deployed { name, namespace, image, version, .. } = deployed;
        let secret = format!("{name}-tls");
        Self {
            name: name.clone(),
            namespace: namespace.clone(),
            // Without a registry: an overlay or a value sets another one.
            image: format!("{image}:{version}"),
            pull_policy: json!("IfNotPresent"),
            replicas: json!(1),
            strategy: "Recreate".to_owned(),
            args: json!(args(only)),
            resources: resources(),
            // The component adds to them.
            volumes: json!([]),
            mounts: json!([]),
            verification: tls::verification(&host(name, namespace), &secret),
            secret,
            scrape_class: SCRAPE_CLASS.to_owned(),
            peers: peers(),
        }
    }

    pub(super) fn chart() -> Self {
        Self {
            name: "<<.Release.Name>>".to_owned(),
            namespace: "<<.Release.Namespace>>".to_owned(),
            image: "<<.Values.image.repository>>:<<.Values.image.tag | default .Chart.AppVersion>>"
                .to_owned(),
            pull_policy: json!("<<.Values.image.pullPolicy>>"),
            replicas: json!("<<.Values.replicas>>"),
            strategy: "<<if gt (int .Values.replicas) 1>>RollingUpdate<<else>>Recreate<<end>>"
                .to_owned(),
            args: json!("<<include `operetta.args` . | nindent 8>>"),
            resources: json!("<<toYaml .Values.resources | nindent 10>>"),
            volumes: json!("<<include `operetta.volumes` . | nindent 8>>"),
            mounts: json!("<<include `operetta.mounts` . | nindent 10>>"),
            secret: "<<include `operetta.secret` .>>".to_owned(),
            verification: json!("<<include `operetta.verification` . | nindent 6>>"),
            scrape_class: "<<.Values.monitoring.scrapeClass>>".to_owned(),
            peers: json!("<<toYaml .Values.networkPolicy.from | nindent 4>>"),
        }
    }

    /// The name of the Service in the cluster.
    pub(super) fn host(&self) -> String {
        host(&self.name, &self.namespace)
    }

    pub(super) fn labels(&self) -> Value {
        json!({"app.kubernetes.io/name": self.name})
    }

    pub(super) fn metadata(&self) -> Value {
        json!({"name": self.name, "namespace": self.namespace, "labels": self.labels()})
    }
}

fn host(name: &str, namespace: &str) -> String {
    format!("{name}.{namespace}.svc")
}

/// The arguments of the process before the component adds its certificate; it runs the chosen operators.
fn args(only: &[String]) -> Vec<String> {
    let mut args = listening().to_vec();
    args.extend([format!("--auth-audience={AUDIENCE}"), tls::SELF_SIGNED.to_owned()]);
    args.extend(flag("only", only));
    args
}

/// The first arguments of every process.
pub(super) fn listening() -> [String; 2] {
    ["--cluster=in-cluster".to_owned(), format!("--listen=0.0.0.0:{PORT}")]
}

pub(super) fn resources() -> Value {
    json!({"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}})
}

/// The Pods of the same namespace, and those of Prometheus with the labels that its operator sets.
pub(super) fn peers() -> Value {
    let labels = |name: &str, value: &str| json!({"matchLabels": {name: value}});
    json!([
        {"podSelector": {}},
        {
            "namespaceSelector": labels("kubernetes.io/metadata.name", "monitoring"),
            "podSelector": labels("app.kubernetes.io/name", "prometheus"),
        },
    ])
}
