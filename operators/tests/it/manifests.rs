//! The manifests that run the operators in a cluster: the API server takes them, where it enforces the Pod Security
//! Standard `restricted`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde_json::{Value, json};

use crate::{
    applied::{KUSTOMIZE, Kubectl, of_kind},
    cluster::Cluster,
    definitions::until,
    deployed, helm,
    published::{CERT_MANAGER, PROMETHEUS_OPERATOR},
};

const OVERLAYS: [&str; 4] = ["cluster-wide", "one-namespace", "sharded", "two-replicas"];

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
    ["service-monitor", "prometheus-rule"].map(|file| {
        let text = fs::read_to_string(format!("{KUSTOMIZE}/monitoring/{file}.yaml")).unwrap();
        serde_yaml_ng::from_str(&text).unwrap()
    })
}

#[operetta_harness::test(server)]
#[ignore = "downloads Go modules: .ci/long monitoring"]
async fn components_pass_a_dry_run_where_their_operators_are_installed() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    let objects = kubectl.with_components("cluster-wide", &["cert-manager", "monitoring"]);
    let mut objects = objects.unwrap();
    kubectl.apply(of_kind(&objects, "Namespace"), &[]).unwrap();
    let of_prometheus = ["servicemonitors", "prometheusrules", "prometheuses"];
    let crds = of_prometheus.map(|plural| PROMETHEUS_OPERATOR.crd(plural));
    for crd in crds.into_iter().chain(["issuers", "certificates"].map(|it| CERT_MANAGER.crd(it))) {
        kubectl.apply(&crd, &[]).unwrap();
        let name = format!("crd/{}", crd["metadata"]["name"].as_str().unwrap());
        // kubectl fails on the real server as long as there are no conditions.
        let wait = ["wait", "--for=condition=Established", &name];
        until("the type is established", async || kubectl.run(&wait, "").is_ok()).await;
    }
    let mut prometheus = deployed::prometheus_of_the_page();
    prometheus["metadata"]["namespace"] = json!("operetta-system");
    objects.push(prometheus);
    for object in &objects {
        let applied = kubectl.apply(object, &["--dry-run=server"]);
        assert!(applied.is_ok(), "{} {}: {applied:?}", object["kind"], object["metadata"]["name"]);
    }
    for (kind, path, wrong) in [
        ("ServiceMonitor", "/spec/endpoints/0/tlsConfig/serverName", json!(1)),
        ("PrometheusRule", "/spec/groups/0/rules/0/for", json!("five minutes")),
        ("Prometheus", "/spec/scrapeClasses/0/authorization/credentialsFile", json!(1)),
        ("Issuer", "/spec", json!("self-signed")),
        ("Certificate", "/spec/privateKey/algorithm", json!("DES")),
    ] {
        let mut object = of_kind(&objects, kind).clone();
        *object.pointer_mut(path).unwrap() = wrong;
        let refused = kubectl.apply(&object, &["--dry-run=server"]).unwrap_err();
        assert!(refused.contains(path.rsplit('/').next().unwrap()), "{refused}");
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
        let pod = json!("--leader-elect-pod=$(POD_NAME)");
        assert_eq!(arguments.contains(&pod), elects, "{overlay}");
        assert_eq!(has_leader(&objects), elects, "{overlay}");
    }
}

#[operetta_harness::test]
async fn sharded_processes_may_delete_leases_and_reach_each_other_and_none_leads() {
    let cluster = Cluster::start().await;
    let objects = Kubectl::on(&cluster).rendered("sharded");
    let spec = &of_kind(&objects, "Deployment")["spec"];
    assert_eq!(spec["replicas"], 3);
    let one_by_one = json!({"maxSurge": 1, "maxUnavailable": 0});
    assert_eq!(spec["strategy"], json!({"type": "RollingUpdate", "rollingUpdate": one_by_one}));
    let container = &spec["template"]["spec"]["containers"][0];
    let arguments = container["args"].as_array().unwrap();
    assert!(arguments.ends_with(&[json!("--sharded")]), "{arguments:?}");
    assert_eq!(container["env"][0]["name"], "POD_IP");
    let is_of_shards = |it: &&Value| it["metadata"]["name"] == "operetta-shards";
    let kinds = objects.iter().filter(is_of_shards).map(|it| it["kind"].as_str().unwrap());
    let expected = BTreeSet::from(["NetworkPolicy", "Role", "RoleBinding"]);
    assert_eq!(kinds.collect::<BTreeSet<_>>(), expected);
    assert!(!has_leader(&objects));
}

/// One replica may become several at any time, and would have to know them.
#[operetta_harness::test]
fn a_value_of_the_chart_shares_the_parents_out_whatever_the_replicas() {
    for replicas in ["replicas=1", "replicas=3"] {
        let chart = of_chart(&["sharded=true", replicas, "networkPolicy.enabled=false"]);
        let spec = &chart["\"Deployment\" \"operetta\""]["spec"];
        assert_eq!(spec["strategy"]["type"], "RollingUpdate", "{replicas}");
        let arguments = spec["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
        assert!(arguments.contains(&json!("--sharded")), "{replicas}");
        assert!(chart.contains_key("\"Role\" \"operetta-shards\""), "{replicas}");
        assert!(!chart.keys().any(|it| it.contains("leader") || it.contains("NetworkPolicy")));
    }
}

/// Whether there is what selects the leader and lets it label its Pod.
fn has_leader(objects: &[Value]) -> bool {
    let is_leader = |it: &&Value| it["metadata"]["name"] == "operetta-leader";
    let kinds: Vec<_> = objects.iter().filter(is_leader).map(|it| it["kind"].as_str()).collect();
    assert!(kinds.is_empty() || kinds.len() == 3, "{kinds:?}");
    ["Service", "Role", "RoleBinding"].iter().all(|kind| kinds.contains(&Some(*kind)))
}

/// By kind and name.
fn sorted(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let name = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]);
    objects.into_iter().map(|object| (name(&object), bare(whole(object)))).collect()
}

/// Without what only the chart says: labels of helm, and values that are empty by default.
fn bare(value: Value) -> Value {
    const LABELS: [&str; 4] = [
        "app.kubernetes.io/instance",
        "app.kubernetes.io/managed-by",
        "app.kubernetes.io/version",
        "helm.sh/chart",
    ];
    const OPTIONAL: [&str; 10] = [
        "affinity",
        "annotations",
        "env",
        "envFrom",
        "imagePullSecrets",
        "nodeSelector",
        "priorityClassName",
        "tolerations",
        "volumeMounts",
        "volumes",
    ];
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    let is_left_out = |name: &str, value: &Value| {
        LABELS.contains(&name) || OPTIONAL.contains(&name) && is_empty(value)
    };
    match value {
        Value::Array(items) => items.into_iter().map(bare).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, value)| !is_left_out(name, value));
            fields.map(|(name, value)| (name, bare(value))).collect()
        }
        other => other,
    }
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

/// The chart says by a condition whether the operator runs.
fn asked_always(object: &mut Value) {
    let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
    for webhook in webhooks.into_iter().flatten() {
        let conditions = webhook["matchConditions"].as_array_mut().expect("it has one");
        conditions.retain(|it| *it != json!({"name": "its-operator-runs", "expression": "true"}));
        if conditions.is_empty() {
            webhook.as_object_mut().unwrap().remove("matchConditions");
        }
    }
}

fn of_overlay(kubectl: &Kubectl, overlay: &str, components: &[&str]) -> BTreeMap<String, Value> {
    let objects = kubectl.with_components(overlay, components).unwrap().into_iter();
    sorted(objects.filter(|object| object["kind"] != "Namespace").collect())
}

/// A role of the cluster is left for the tokens of users of the endpoint, and by name for the `caBundle` of conversions.
#[operetta_harness::test]
async fn in_one_namespace_no_permission_is_of_the_whole_cluster() {
    let cluster = Cluster::start().await;
    let objects = Kubectl::on(&cluster).rendered("one-namespace");
    let bound = objects.iter().filter(|object| object["kind"] == "ClusterRoleBinding");
    let bound: Vec<_> = bound.map(|binding| binding["roleRef"]["name"].as_str().unwrap()).collect();
    assert_eq!(bound, ["operetta-access-reviewer", "operetta-webhooks"]);
    let role = objects.iter().find(|object| {
        object["kind"] == "ClusterRole" && object["metadata"]["name"] == "operetta-webhooks"
    });
    for rule in role.unwrap()["rules"].as_array().unwrap() {
        assert!(!rule["resourceNames"].as_array().unwrap().is_empty(), "{rule}");
    }
    assert!(!objects.iter().any(|it| it["kind"] == "ValidatingWebhookConfiguration"));
    let of_spec = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    assert!(of_spec["args"].as_array().unwrap().contains(&json!("--namespaces=operetta-system")));
}

#[operetta_harness::test(server)]
async fn the_chart_renders_what_kustomize_does() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    for (values, overlay, components) in [
        (&["tls.mode=selfSigned"][..], "cluster-wide", &[][..]),
        (&["tls.mode=secret", "replicas=2"], "two-replicas", &["tls"]),
        (&["tls.mode=secret", "replicas=3", "sharded=true"], "sharded", &["tls"]),
        (
            &["tls.mode=certManager", "monitoring.enabled=true"],
            "cluster-wide",
            &["cert-manager", "monitoring"],
        ),
    ] {
        let mut chart = of_chart(values);
        chart.values_mut().for_each(asked_always);
        assert_eq!(chart, of_overlay(&kubectl, overlay, components));
    }
    helm::lint().unwrap();
}

#[operetta_harness::test(server)]
async fn monitoring_is_refused_where_no_certificate_can_be_verified() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::on(&cluster);
    let refused = kubectl.with_components("cluster-wide", &["monitoring"]).unwrap_err();
    assert!(refused.contains("test"), "{refused}");
    let with_own = kubectl.with_components("cluster-wide", &["tls", "monitoring"]);
    assert!(with_own.is_ok(), "{with_own:?}");
}

#[operetta_harness::test]
fn monitoring_is_the_component_of_kustomize() {
    let values = ["monitoring.enabled=true", "crds.install=false", "networkPolicy.enabled=false"];
    let chart = of_chart(&values);
    assert!(!chart.keys().any(|name| name.contains("NetworkPolicy") || name.contains("Custom")));
    for expected in monitored() {
        assert_eq!(chart[&format!("{} \"operetta\"", expected["kind"])], bare(expected));
    }
}

#[operetta_harness::test]
fn only_a_certificate_that_nobody_can_verify_is_not_verified() {
    for mode in ["generated", "certManager", "secret", "selfSigned"] {
        let mode = format!("tls.mode={mode}");
        let chart = of_chart(&["monitoring.enabled=true", &mode, "tls.secretName=ours"]);
        let endpoint = &chart["\"ServiceMonitor\" \"operetta\""]["spec"]["endpoints"][0];
        let template = &chart["\"Deployment\" \"operetta\""]["spec"]["template"]["spec"];
        let secret = &template["volumes"][0]["secret"]["secretName"];
        if mode == "tls.mode=selfSigned" {
            assert_eq!(endpoint["tlsConfig"], json!({"insecureSkipVerify": true}));
            assert!(secret.is_null(), "{template}");
        } else {
            assert_eq!(endpoint["tlsConfig"]["ca"]["secret"]["name"], "ours", "{mode}");
            assert_eq!(endpoint["tlsConfig"]["insecureSkipVerify"], Value::Null, "{mode}");
            assert_eq!(secret, "ours", "{mode}");
        }
    }
}

#[operetta_harness::test]
fn values_that_cannot_work_are_refused() {
    for (value, part) in [
        ("replicas=two", "replicas"),
        ("replicas=99", "replicas"),
        ("image.pullPolicy=Sometimes", "pullPolicy"),
        ("replica=2", "replica"),
        ("sharded=three", "sharded"),
        ("auth.audience=a b", "audience"),
        ("tls.mode=none", "mode"),
        // Without names everybody could come in.
        ("networkPolicy.from=null", "from"),
        ("networkPolicy.from={}", "from"),
        ("networkPolicy.from[0].namespace=default", "namespace"),
    ] {
        let refused = helm::rendered(&[value]).unwrap_err();
        assert!(refused.contains("don't meet the specifications of the schema"), "{refused}");
        assert!(refused.contains(part), "{value}: {refused}");
    }
}
