//! The manifests that run the operators in a cluster: the API server takes them, where it enforces the Pod Security
//! Standard `restricted`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use operetta_controlplane::Binaries;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, or_ignore},
    helm, prometheus_operator,
};

const OVERLAYS: [&str; 3] = ["cluster-wide", "one-namespace", "two-replicas"];

/// The kubectl of the rig on a cluster.
struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Kubectl {
    fn on(cluster: &Cluster) -> Self {
        let binaries = or_ignore(Binaries::find());
        let (program, kubeconfig) =
            (binaries.folder().join("kubectl"), cluster.kubeconfig().to_owned());
        Self { program, kubeconfig }
    }

    /// Its output, or its error.
    fn run(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("KUBECONFIG", &self.kubeconfig);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = answered(command, input).map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (printed, error) = (text(&output.stdout), text(&output.stderr));
        if output.status.success() { Ok(printed) } else { Err(error) }
    }

    /// The objects of an overlay.
    fn rendered(&self, overlay: &str) -> Vec<Value> {
        let folder =
            format!("{}/../deploy/kustomize/overlays/{overlay}", env!("CARGO_MANIFEST_DIR"));
        let text = self.run(&["kustomize", &folder], "").unwrap();
        let documents = serde_yaml_ng::Deserializer::from_str(&text);
        documents.map(|document| Value::deserialize(document).unwrap()).collect()
    }

    fn apply(&self, object: &Value, how: &[&str]) -> Result<String, String> {
        let arguments = ["apply", "--server-side", "--validate=strict", "-f", "-"];
        self.run(&[&arguments, how].concat(), &object.to_string())
    }
}

fn answered(mut command: Command, input: &str) -> io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait_with_output()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    objects.iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[operetta_harness::test(server)]
async fn every_manifest_passes_a_dry_run_where_restricted_is_enforced() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    for overlay in OVERLAYS {
        let objects = kubectl.rendered(overlay);
        let namespace = of_kind(&objects, "Namespace");
        assert_eq!(
            namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"],
            "restricted"
        );
        for kind in ["Namespace", "ServiceAccount"] {
            kubectl.apply(of_kind(&objects, kind), &[]).unwrap();
        }
        for object in &objects {
            let name = format!("{overlay}: {} {}", object["kind"], object["metadata"]["name"]);
            let applied = kubectl.apply(object, &["--dry-run=server"]);
            assert!(applied.is_ok(), "{name}: {applied:?}");
        }
        let template = &of_kind(&objects, "Deployment")["spec"]["template"];
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"]});
        pod["metadata"] = json!({"name": "p", "namespace": "operetta-system"});
        kubectl.apply(&pod, &["--dry-run=server"]).unwrap();
        // The embedded server does not enforce the standard.
        if matches!(cluster, Cluster::Embedded { .. }) {
            continue;
        }
        pod["spec"]["containers"][0]["securityContext"] = Value::Null;
        let refused = kubectl.apply(&pod, &["--dry-run=server"]).unwrap_err();
        assert!(refused.contains("violates PodSecurity \"restricted:latest\""), "{refused}");
    }
}

/// The objects of the component for clusters with the Prometheus operator.
fn monitored() -> [Value; 2] {
    let folder = format!("{}/../deploy/kustomize/monitoring", env!("CARGO_MANIFEST_DIR"));
    ["service-monitor", "prometheus-rule"].map(|file| {
        let text = fs::read_to_string(format!("{folder}/{file}.yaml")).unwrap();
        serde_yaml_ng::from_str(&text).unwrap()
    })
}

#[operetta_harness::test(server)]
#[ignore = "downloads a Go module: .ci/long manifests"]
async fn what_is_monitored_passes_a_dry_run_where_the_prometheus_operator_is_installed() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    kubectl.apply(of_kind(&kubectl.rendered("cluster-wide"), "Namespace"), &[]).unwrap();
    for plural in ["servicemonitors", "prometheusrules"] {
        kubectl.apply(&prometheus_operator::crd(plural), &[]).unwrap();
        let name = format!("crd/{plural}.monitoring.coreos.com");
        kubectl.run(&["wait", "--for=condition=Established", &name], "").unwrap();
    }
    let [mut service_monitor, mut rules] = monitored();
    for object in [&service_monitor, &rules] {
        let applied = kubectl.apply(object, &["--dry-run=server"]);
        assert!(applied.is_ok(), "{}: {applied:?}", object["kind"]);
    }
    service_monitor["spec"]["endpoints"][0]["ports"] = json!("https");
    rules["spec"]["groups"][0]["rules"][0]["for"] = json!("five minutes");
    for (object, field) in [(service_monitor, "ports"), (rules, "for")] {
        let refused = kubectl.apply(&object, &["--dry-run=server"]).unwrap_err();
        assert!(refused.contains(field), "{refused}");
    }
}

#[operetta_harness::test(server)]
async fn two_replicas_elect_a_leader_and_one_does_not() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    for (overlay, replicas, strategy, elects) in
        [("cluster-wide", 1, "Recreate", false), ("two-replicas", 2, "RollingUpdate", true)]
    {
        let objects = kubectl.rendered(overlay);
        let spec = &of_kind(&objects, "Deployment")["spec"];
        assert_eq!(spec["replicas"], replicas, "{overlay}");
        assert_eq!(spec["strategy"]["type"], strategy, "{overlay}");
        let arguments = spec["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
        assert_eq!(arguments.contains(&json!("--leader-elect")), elects, "{overlay}");
    }
}

/// By kind and name.
fn sorted(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]);
    objects.into_iter().map(|object| (name(&object), whole(object))).collect()
}

/// kustomize writes `1.0` of a schema as `1`.
fn whole(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let whole = text.strip_suffix(".0").and_then(|text| text.parse::<i64>().ok());
            whole.map_or(Value::Number(number), Value::from)
        }
        Value::Array(items) => items.into_iter().map(whole).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, it)| (name, whole(it))).collect(),
        other => other,
    }
}

/// The chart has no Namespace, and an annotation that keeps the CRDs.
fn of_chart(values: &[&str]) -> BTreeMap<String, Value> {
    let mut objects = helm::rendered(values).unwrap();
    for crd in objects.iter_mut().filter(|object| object["kind"] == "CustomResourceDefinition") {
        let annotations = crd["metadata"].as_object_mut().unwrap().remove("annotations");
        assert_eq!(annotations, Some(json!({"helm.sh/resource-policy": "keep"})));
    }
    sorted(objects)
}

fn of_overlay(kubectl: &Kubectl, overlay: &str) -> BTreeMap<String, Value> {
    let objects = kubectl.rendered(overlay).into_iter();
    sorted(objects.filter(|object| object["kind"] != "Namespace").collect())
}

/// A role of the cluster is left for the tokens of users of the endpoint alone.
#[operetta_harness::test]
async fn in_one_namespace_no_permission_is_of_the_whole_cluster() {
    let cluster = Cluster::start().await;
    let objects = Kubectl::on(&cluster).rendered("one-namespace");
    let bound = objects.iter().filter(|object| object["kind"] == "ClusterRoleBinding");
    let bound: Vec<_> = bound.map(|binding| binding["roleRef"]["name"].as_str().unwrap()).collect();
    assert_eq!(bound, ["operetta-access-reviewer"]);
    let of_spec = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    assert!(of_spec["args"].as_array().unwrap().contains(&json!("--namespaces=operetta-system")));
}

#[operetta_harness::test(server)]
async fn the_chart_renders_what_kustomize_does() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    assert_eq!(of_chart(&[]), of_overlay(&kubectl, "cluster-wide"));
    assert_eq!(of_chart(&["replicas=2"]), of_overlay(&kubectl, "two-replicas"));
    helm::lint().unwrap();
}

#[operetta_harness::test]
fn monitoring_is_the_component_of_kustomize() {
    let values = ["monitoring.enabled=true", "crds.install=false", "networkPolicy.enabled=false"];
    let chart = of_chart(&values);
    assert!(!chart.keys().any(|name| name.contains("NetworkPolicy") || name.contains("Custom")));
    for expected in monitored() {
        assert_eq!(chart[&format!("{} \"operetta\"", expected["kind"])], expected);
    }
}

#[operetta_harness::test]
fn values_that_cannot_work_are_refused() {
    for (value, part) in [
        ("replicas=two", "replicas"),
        ("replicas=99", "replicas"),
        ("image.pullPolicy=Sometimes", "pullPolicy"),
        ("replica=2", "replica"),
    ] {
        let refused = helm::rendered(&[value]).unwrap_err();
        assert!(refused.contains("don't meet the specifications of the schema"), "{refused}");
        assert!(refused.contains(part), "{value}: {refused}");
    }
}
