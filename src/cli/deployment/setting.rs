//! What differs between the manifests of kustomize and the templates of the chart.

use serde_json::{Value, json};

use super::tls;
use crate::cli::{deployed::Deployed, header::flag};

/// The port of the endpoint in a Pod.
pub(super) const PORT: u16 = 8443;

/// The ports of API servers: that of their Service, and the usual one behind it.
pub(super) const API_PORTS: [u16; 2] = [443, 6443];

/// The audience of tokens for the endpoint: what Prometheus and users send there is worth nothing at the API server.
pub(super) const AUDIENCE: &str = "operetta";

/// The scrape class of Prometheus that sends a token with the audience of the endpoint.
pub(super) const SCRAPE_CLASS: &str = "operetta";

/// Where the rules look for the book, whose page `alerts.html` has a section for each alert. The book has no address of its
/// own: this one leads nowhere, and who serves the book replaces it.
pub(super) const RUNBOOKS: &str = "https://operetta.example/book";

/// Names and values of the manifests. For the chart they are templates between `<<` and `>>`, which YAML does not
/// quote; [`super::chart`] makes braces of them.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) name: String,
    /// The labels by which its Pods are found.
    pub(super) selector: Value,
    /// Further labels, of everything.
    labels: Value,
    pub(super) namespace: String,
    pub(super) image: String,
    pub(super) pull_policy: Value,
    pub(super) replicas: Value,
    /// How a new version replaces the Pods.
    pub(super) strategy: Value,
    pub(super) args: Value,
    pub(super) resources: Value,
    pub(super) volumes: Value,
    pub(super) mounts: Value,
    /// How the Pods are spread over nodes.
    pub(super) spread: Value,
    /// The metadata of the Pods.
    pub(super) of_pods: Value,
    /// Further fields of the Pods and of their container.
    pub(super) in_pods: Value,
    pub(super) in_container: Value,
    pub(super) service_annotations: Value,
    pub(super) account_annotations: Value,
    /// The Secret with the certificate.
    pub(super) secret: String,
    /// What Prometheus scrapes.
    pub(super) scrape: Value,
    /// The address of the book, for the alerts.
    pub(super) runbooks: String,
    /// Who may reach the endpoint.
    pub(super) peers: Value,
    /// What the Pods may reach.
    pub(super) egress: Value,
    /// The port of a Pod at which the API server calls its webhooks.
    pub(super) webhook_port: Option<u16>,
    /// The arguments for that, which also the helpers of a chart have.
    pub(super) webhook_args: Vec<String>,
    /// Whether values of a chart change things.
    pub(super) has_values: bool,
}

impl Setting {
    /// One replica, which overlays change, and no certificate, which a component adds. Two processes without a leader
    /// election must never run at once, not even during the rollout of a new version.
    pub(super) fn kustomize(deployed: &Deployed, only: &[String]) -> Self {
        let Deployed { name, namespace, image, version, .. } = deployed;
        let secret = format!("{name}-tls");
        let selector = json!({"app.kubernetes.io/name": name});
        let labels = json!({"app.kubernetes.io/version": version});
        Self {
            name: name.clone(),
            spread: spread(&selector),
            of_pods: json!({"labels": merged(&selector, &labels)}),
            scrape: scrape(&selector, &tls::verification(&host(name, namespace), &secret)),
            selector,
            labels,
            in_pods: json!({}),
            in_container: json!({}),
            service_annotations: Value::Null,
            account_annotations: Value::Null,
            namespace: namespace.clone(),
            // Without a registry: an overlay or a value sets another one.
            image: format!("{image}:{version}"),
            pull_policy: json!("IfNotPresent"),
            replicas: json!(1),
            strategy: json!({"type": "Recreate"}),
            args: json!(args(only)),
            resources: resources(),
            // The component adds to them.
            volumes: json!([]),
            mounts: json!([]),
            secret,
            runbooks: RUNBOOKS.to_owned(),
            peers: peers(),
            egress: json!([name_service(), api_server()]),
            webhook_port: None,
            webhook_args: Vec::new(),
            has_values: false,
        }
    }

    pub(super) fn chart() -> Self {
        let values =
            |name: &str, indent: u8| json!(format!("<<toYaml .Values.{name} | nindent {indent}>>"));
        Self {
            name: "<<.Release.Name>>".to_owned(),
            selector: json!({
                "app.kubernetes.io/instance": "<<.Release.Name>>",
                "app.kubernetes.io/name": "<<.Chart.Name>>",
            }),
            labels: json!({
                "app.kubernetes.io/managed-by": "<<.Release.Service>>",
                "app.kubernetes.io/version": "<<.Chart.AppVersion | quote>>",
                "helm.sh/chart": "<<.Chart.Name>>-<<.Chart.Version | replace `+` `_`>>",
            }),
            spread: json!("<<include `operetta.spread` . | nindent 6>>"),
            of_pods: json!({
                "annotations": values("podAnnotations", 8),
                "labels": "<<include `operetta.podLabels` . | nindent 8>>",
            }),
            in_pods: json!({
                "affinity": values("affinity", 8),
                "imagePullSecrets": values("imagePullSecrets", 8),
                "nodeSelector": values("nodeSelector", 8),
                "priorityClassName": "<<.Values.priorityClassName | quote>>",
                "tolerations": values("tolerations", 8),
            }),
            in_container: json!({
                "env": "<<include `operetta.env` . | nindent 10>>",
                "envFrom": values("envFrom", 10),
            }),
            service_annotations: values("service.annotations", 4),
            account_annotations: values("serviceAccount.annotations", 4),
            namespace: "<<.Release.Namespace>>".to_owned(),
            image: "<<.Values.image.repository>>:<<.Values.image.tag | default .Chart.AppVersion>>"
                .to_owned(),
            pull_policy: json!("<<.Values.image.pullPolicy>>"),
            replicas: json!("<<.Values.replicas>>"),
            strategy: json!("<<include `operetta.strategy` . | nindent 4>>"),
            args: json!("<<include `operetta.args` . | nindent 8>>"),
            resources: json!("<<toYaml .Values.resources | nindent 10>>"),
            volumes: json!("<<include `operetta.volumes` . | nindent 6>>"),
            mounts: json!("<<include `operetta.mounts` . | nindent 8>>"),
            secret: "<<include `operetta.secret` .>>".to_owned(),
            runbooks: "<<.Values.monitoring.runbookBase | trimSuffix `/`>>".to_owned(),
            scrape: json!("<<include `operetta.scrape` . | nindent 2>>"),
            peers: json!("<<toYaml .Values.networkPolicy.from | nindent 4>>"),
            egress: json!("<<include `operetta.egress` . | nindent 2>>"),
            webhook_port: None,
            webhook_args: Vec::new(),
            has_values: true,
        }
    }

    /// The name of the Service in the cluster.
    pub(super) fn host(&self) -> String {
        host(&self.name, &self.namespace)
    }

    /// The names of the Service and of that of the leader. A certificate has both also with one replica, because it is kept
    /// when there are more.
    pub(super) fn hosts(&self) -> [String; 2] {
        [self.host(), host(&format!("{}-leader", self.name), &self.namespace)]
    }

    pub(super) fn labels(&self) -> Value {
        merged(&self.selector, &self.labels)
    }

    pub(super) fn metadata(&self) -> Value {
        json!({"name": self.name, "namespace": self.namespace, "labels": self.labels()})
    }
}

/// The fields of both objects.
pub(super) fn merged(one: &Value, other: &Value) -> Value {
    let fields = [one, other].into_iter().filter_map(Value::as_object).flatten();
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Pods with these labels are spread over nodes, where that is possible.
pub(super) fn spread(selector: &Value) -> Value {
    json!([{
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector},
    }])
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

/// What is scraped of the Pods behind the Service.
fn scrape(selector: &Value, verification: &Value) -> Value {
    json!({
        "selector": {"matchLabels": selector},
        "endpoints": [{
            "port": "https",
            "scheme": "https",
            "path": "/metrics",
            "tlsConfig": verification,
        }],
        "scrapeClass": SCRAPE_CLASS,
    })
}

pub(super) fn resources() -> Value {
    json!({"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}})
}

pub(super) fn port(protocol: &str, port: u16) -> Value {
    json!({"protocol": protocol, "port": port})
}

/// The rule for DNS.
pub(super) fn name_service() -> Value {
    json!({"ports": [port("UDP", 53), port("TCP", 53)]})
}

fn api_server() -> Value {
    json!({"ports": API_PORTS.map(|number| port("TCP", number))})
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
