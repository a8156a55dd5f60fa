//! What the values of the chart change.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::helm::rendered;

/// The objects of a kind with their rules, of the permissions of the operators alone.
fn roles<'a>(objects: &'a [Value], kind: &str, name: &str) -> Vec<&'a Value> {
    let is_it = |it: &&Value| it["kind"] == kind && it["metadata"]["name"] == name;
    objects.iter().filter(is_it).collect()
}

fn resources(role: &Value) -> BTreeSet<&str> {
    let rules = role["rules"].as_array().into_iter().flatten();
    rules.flat_map(|rule| rule["resources"].as_array().into_iter().flatten()).map(text).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn pod(objects: &[Value]) -> &Value {
    &objects.iter().find(|it| it["kind"] == "Deployment").unwrap()["spec"]["template"]
}

fn arguments(objects: &[Value]) -> Vec<&str> {
    let arguments = pod(objects)["spec"]["containers"][0]["args"].as_array().unwrap();
    arguments.iter().map(text).collect()
}

#[operetta_harness::test]
fn only_chosen_operators_run_and_have_permissions() {
    let all = rendered(&[]).unwrap();
    let of_all = resources(roles(&all, "ClusterRole", "operetta")[0]);
    assert!(of_all.contains("databases") && of_all.contains("tempnamespaces"), "{of_all:?}");
    assert!(!arguments(&all).iter().any(|it| it.starts_with("--only")), "{:?}", arguments(&all));
    let one = rendered(&["operators={echo-server}"]).unwrap();
    let of_one = resources(roles(&one, "ClusterRole", "operetta")[0]);
    assert!(of_one.contains("echoservers") && of_one.is_subset(&of_all), "{of_one:?}");
    assert!(!of_one.contains("databases") && !of_one.contains("tempnamespaces"), "{of_one:?}");
    assert!(arguments(&one).contains(&"--only=echo-server"), "{:?}", arguments(&one));
    let refused = rendered(&["operators={echo}"]).unwrap_err();
    assert!(refused.contains("operators"), "{refused}");
}

#[operetta_harness::test]
fn in_chosen_namespaces_there_are_roles_and_no_role_of_the_cluster() {
    let objects = rendered(&["namespaces={shop,test}"]).unwrap();
    assert!(roles(&objects, "ClusterRole", "operetta").is_empty());
    assert!(roles(&objects, "ClusterRoleBinding", "operetta").is_empty());
    let (roles_in, bindings) = (
        roles(&objects, "Role", "operetta-operators"),
        roles(&objects, "RoleBinding", "operetta-operators"),
    );
    let namespaces = |objects: &[&Value]| -> Vec<String> {
        objects.iter().map(|it| text(&it["metadata"]["namespace"]).to_owned()).collect()
    };
    assert_eq!(namespaces(&roles_in), ["shop", "test"]);
    assert_eq!(namespaces(&bindings), ["shop", "test"]);
    assert!(resources(roles_in[0]).contains("echoservers"));
    assert!(!resources(roles_in[0]).contains("tempnamespaces"), "its parents have no namespace");
    let subject = &bindings[0]["subjects"][0];
    assert_eq!(
        (&subject["name"], &subject["namespace"]),
        (&json!("operetta"), &json!("operetta-system"))
    );
    assert!(arguments(&objects).contains(&"--namespaces=shop,test"));
    let one = rendered(&["namespaces={shop}", "operators={echo-server}"]).unwrap();
    let of_one = resources(roles(&one, "Role", "operetta-operators")[0]);
    assert!(of_one.contains("echoservers") && !of_one.contains("databases"), "{of_one:?}");
    // The program would refuse it, with the Pod.
    let refused = rendered(&["namespaces={shop}", "operators={temp-namespace}"]).unwrap_err();
    assert!(
        refused.contains("echo-server") && !refused.contains("config-propagation"),
        "{refused}"
    );
}

#[operetta_harness::test]
fn pods_have_what_the_values_say() {
    let objects = rendered(&[
        "imagePullSecrets[0].name=registry",
        "podAnnotations.team=a",
        "podLabels.cost=b",
        "nodeSelector.disk=ssd",
        "tolerations[0].key=gpu",
        "affinity.nodeAffinity.a=b",
        "topologySpreadConstraints[0].maxSkew=2",
        "priorityClassName=high",
        "env[0].name=HTTPS_PROXY",
        "envFrom[0].secretRef.name=more",
        "volumes[0].name=cache",
        "volumeMounts[0].name=cache",
        "service.annotations.s=t",
        "serviceAccount.annotations.role=arn",
    ])
    .unwrap();
    let of_pod = pod(&objects);
    let (spec, container) = (&of_pod["spec"], &of_pod["spec"]["containers"][0]);
    assert_eq!(of_pod["metadata"]["annotations"], json!({"team": "a"}));
    assert_eq!(of_pod["metadata"]["labels"]["cost"], "b");
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "registry"}]));
    assert_eq!(spec["nodeSelector"], json!({"disk": "ssd"}));
    assert_eq!(spec["tolerations"], json!([{"key": "gpu"}]));
    assert_eq!(spec["affinity"]["nodeAffinity"], json!({"a": "b"}));
    assert_eq!(spec["topologySpreadConstraints"], json!([{"maxSkew": 2}]));
    assert_eq!(spec["priorityClassName"], "high");
    assert_eq!(container["env"], json!([{"name": "HTTPS_PROXY"}]));
    assert_eq!(container["envFrom"], json!([{"secretRef": {"name": "more"}}]));
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| text(&it["name"]).to_owned()).collect()
    };
    assert_eq!(names(&spec["volumes"]), ["tls", "cache"]);
    assert_eq!(names(&container["volumeMounts"]), ["tls", "cache"]);
    let annotations = |kind: &str| {
        objects.iter().find(|it| it["kind"] == kind).unwrap()["metadata"]["annotations"].clone()
    };
    assert_eq!(annotations("Service"), json!({"s": "t"}));
    assert_eq!(annotations("ServiceAccount"), json!({"role": "arn"}));
}

#[operetta_harness::test]
fn everything_has_the_labels_that_helm_recommends() {
    let objects = rendered(&[]).unwrap();
    let expected = json!({
        "app.kubernetes.io/instance": "operetta",
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/name": "operetta",
        "app.kubernetes.io/version": env!("CARGO_PKG_VERSION"),
        "helm.sh/chart": format!("operetta-{}", env!("CARGO_PKG_VERSION")),
    });
    for object in objects.iter().filter(|it| it["kind"] != "CustomResourceDefinition") {
        let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
        assert_eq!(object["metadata"]["labels"], expected, "{name}");
    }
    assert_eq!(pod(&objects)["metadata"]["labels"], expected);
    let selector = &objects.iter().find(|it| it["kind"] == "Service").unwrap()["spec"]["selector"];
    let found_by = json!({
        "app.kubernetes.io/instance": "operetta", "app.kubernetes.io/name": "operetta",
    });
    assert_eq!(selector, &found_by);
}

fn monitor(objects: &[Value]) -> &Value {
    &objects.iter().find(|it| it["kind"] == "ServiceMonitor").unwrap()["spec"]
}

#[operetta_harness::test]
fn prometheus_has_its_token_from_a_scrape_class_or_from_a_secret() {
    let of_class = rendered(&["monitoring.enabled=true"]).unwrap();
    assert_eq!(monitor(&of_class)["scrapeClass"], "operetta");
    assert_eq!(monitor(&of_class)["endpoints"][0]["authorization"], Value::Null);
    let bound = |objects: &[Value]| {
        roles(objects, "ClusterRoleBinding", "operetta-metrics-reader")
            .first()
            .map(|&it| it.clone())
    };
    assert_eq!(bound(&of_class), None);
    let of_secret = rendered(&[
        "monitoring.enabled=true",
        "monitoring.tokenSecret=scraper",
        "monitoring.prometheus.account=prometheus",
    ]);
    let of_secret = of_secret.unwrap();
    assert_eq!(monitor(&of_secret)["scrapeClass"], Value::Null);
    let credentials = &monitor(&of_secret)["endpoints"][0]["authorization"]["credentials"];
    assert_eq!(credentials, &json!({"name": "scraper", "key": "token"}));
    let subject =
        json!({"kind": "ServiceAccount", "name": "prometheus", "namespace": "monitoring"});
    assert_eq!(bound(&of_secret).unwrap()["subjects"], json!([subject]));
}

#[operetta_harness::test]
fn alerts_lead_to_the_book_of_the_values() {
    let link = |values: &[&str]| {
        let objects = rendered(values).unwrap();
        let rules = objects.iter().find(|it| it["kind"] == "PrometheusRule").unwrap();
        rules["spec"]["groups"][0]["rules"][0]["annotations"]["runbook_url"].clone()
    };
    let default = "https://operetta.example/book/alerts.html#operettaabsent";
    assert_eq!(link(&["monitoring.enabled=true"]), default);
    let own = "monitoring.runbookBase=https://docs.example.com/operetta/";
    assert_eq!(
        link(&["monitoring.enabled=true", own]),
        "https://docs.example.com/operetta/alerts.html#operettaabsent"
    );
}

#[operetta_harness::test]
fn the_network_policy_allows_the_ports_and_systems_of_the_values() {
    let egress = |values: &[&str]| {
        let objects = rendered(values).unwrap();
        objects.iter().find(|it| it["kind"] == "NetworkPolicy").unwrap()["spec"]["egress"].clone()
    };
    let port = |number: u16| json!({"port": number, "protocol": "TCP"});
    assert_eq!(egress(&[])[1], json!({"ports": [port(443), port(6443)]}));
    let more =
        egress(&["networkPolicy.apiServerPorts={16443}", "networkPolicy.to[0].ports[0].port=5432"]);
    assert_eq!(more[1], json!({"ports": [port(16443)]}));
    assert_eq!(more[2], json!({"ports": [{"port": 5432}]}));
}

/// The objects that are there for the leader alone.
fn of_leader(objects: &[Value]) -> Vec<&Value> {
    objects.iter().filter(|it| it["metadata"]["name"] == "operetta-leader").collect()
}

#[operetta_harness::test]
fn a_service_selects_the_leader_of_more_than_one_replica() {
    let one = rendered(&["env[0].name=HTTPS_PROXY"]).unwrap();
    assert!(of_leader(&one).is_empty(), "{:?}", of_leader(&one));
    assert!(!arguments(&one).iter().any(|it| it.starts_with("--leader-elect")));
    let three = rendered(&["replicas=3", "env[0].name=HTTPS_PROXY"]).unwrap();
    let kinds: Vec<_> = of_leader(&three).iter().map(|it| text(&it["kind"])).collect();
    assert_eq!(BTreeSet::from_iter(kinds), ["Role", "RoleBinding", "Service"].into());
    let service = of_leader(&three).into_iter().find(|it| it["kind"] == "Service").unwrap();
    let selector = json!({
        "app.kubernetes.io/instance": "operetta",
        "app.kubernetes.io/name": "operetta",
        "operetta.dev/leader": "true",
    });
    assert_eq!(service["spec"]["selector"], selector);
    assert_ne!(service["metadata"]["labels"]["app.kubernetes.io/name"], "operetta");
    assert!(arguments(&three).contains(&"--leader-elect-pod=$(POD_NAME)"));
    let name = json!({"fieldRef": {"fieldPath": "metadata.name"}});
    let variables = json!([{"name": "POD_NAME", "valueFrom": name}, {"name": "HTTPS_PROXY"}]);
    assert_eq!(pod(&three)["spec"]["containers"][0]["env"], variables);
    let role = of_leader(&three).into_iter().find(|it| it["kind"] == "Role").unwrap();
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]}]);
    assert_eq!(role["rules"], rules);
}
