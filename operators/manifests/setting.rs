//! What differs between the manifests of kustomize and the templates of the chart.

use serde_json::{Value, json};

use crate::{
    manifest::flag,
    rbac::{NAME, NAMESPACE},
};

/// The image, without a registry: an overlay or a value sets another one.
pub(super) const IMAGE: &str = "operetta-operators";

/// The port of the endpoint in a Pod.
pub(super) const PORT: u16 = 8443;

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
}

impl Setting {
    /// One replica, which overlays change. Two processes without a leader election must never run at once, not even
    /// while a new version is rolled out.
    pub(super) fn kustomize(only: &[String]) -> Self {
        Self {
            name: NAME.to_owned(),
            namespace: NAMESPACE.to_owned(),
            image: format!("{IMAGE}:{}", env!("CARGO_PKG_VERSION")),
            pull_policy: json!("IfNotPresent"),
            replicas: json!(1),
            strategy: "Recreate".to_owned(),
            args: json!(args(only)),
            resources: resources(),
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
        }
    }

    pub(super) fn labels(&self) -> Value {
        json!({"app.kubernetes.io/name": self.name})
    }

    pub(super) fn metadata(&self) -> Value {
        json!({"name": self.name, "namespace": self.namespace, "labels": self.labels()})
    }
}

/// The arguments of every process, which runs the chosen operators.
pub(super) fn args(only: &[String]) -> Vec<String> {
    let mut args = vec![
        "--cluster=in-cluster".to_owned(),
        format!("--listen=0.0.0.0:{PORT}"),
        "--tls-self-signed".to_owned(),
    ];
    args.extend(flag("only", only));
    args
}

pub(super) fn resources() -> Value {
    json!({"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}})
}
