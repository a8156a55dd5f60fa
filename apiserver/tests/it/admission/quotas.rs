//! Limit ranges and resource quotas.

use serde_json::{Value, json};

use super::pair::{Stage, Step, play};

const JSON: &str = "application/json";

fn nobody(_: &str, _: &Value) -> Option<(u16, &'static str, String)> {
    Some((200, JSON, String::new()))
}

fn path(stage: &Stage, plural: &str) -> String {
    format!("/api/v1/namespaces/{}/{plural}", stage.namespace)
}

fn pod(stage: &Stage, name: &str, resources: Value) -> Step {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]},
    });
    Step("POST", path(stage, "pods"), JSON, object)
}

fn claim(stage: &Stage, name: &str, storage: &str) -> Step {
    let object = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}},
    });
    Step("POST", path(stage, "persistentvolumeclaims"), JSON, object)
}

#[operetta_harness::test]
async fn limit_ranges_bound_pods_and_claims() {
    play(
        nobody,
        |stage| {
            let range = json!({
                "metadata": {"name": "bounds"},
                "spec": {"limits": [
                    {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "2"}, "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "200m"}, "maxLimitRequestRatio": {"cpu": "4"}},
                    {"type": "Pod", "max": {"memory": "1Gi"}},
                    {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}},
                ]},
            });
            vec![(path(stage, "limitranges"), range)]
        },
        |stage| {
            let memory = |requests: Value, limits: Value| {
                let (mut requests, mut limits) = (requests, limits);
                requests["memory"] = json!("64Mi");
                limits["memory"] = json!("64Mi");
                json!({"requests": requests, "limits": limits})
            };
            vec![
                pod(stage, "none", json!({})),
                pod(stage, "fits", memory(json!({}), json!({}))),
                pod(stage, "below", memory(json!({"cpu": "50m"}), json!({"cpu": "100m"}))),
                pod(stage, "above", memory(json!({"cpu": "1"}), json!({"cpu": "3"}))),
                pod(stage, "ratio", memory(json!({"cpu": "300m"}), json!({"cpu": "2"}))),
                pod(stage, "large", json!({"requests": {"memory": "2Gi"}, "limits": {"memory": "2Gi"}})),
                claim(stage, "small", "500Mi"),
                claim(stage, "big", "20Gi"),
                claim(stage, "good", "5Gi"),
                Step("GET", format!("{}/fits", path(stage, "pods")), JSON, Value::Null),
            ]
        },
    )
    .await;
}

#[operetta_harness::test]
async fn quotas_are_charged_and_refuse_what_exceeds_them() {
    play(
        nobody,
        |stage| {
            let quota = |name: &str, spec: Value| {
                (path(stage, "resourcequotas"), json!({"metadata": {"name": name}, "spec": spec}))
            };
            vec![
                quota("counts", json!({"hard": {"configmaps": "2", "count/deployments.apps": "0", "services.nodeports": "1"}})),
                quota("compute", json!({"hard": {"limits.cpu": "2", "requests.memory": "1Gi"}, "scopes": ["NotTerminating"]})),
                quota("storage", json!({"hard": {"requests.storage": "10Gi", "gold.storageclass.storage.k8s.io/requests.storage": "1Gi"}})),
                quota("best", json!({"hard": {"pods": "1"}, "scopes": ["BestEffort"]})),
            ]
        },
        |stage| {
            let quotas = path(stage, "resourcequotas");
            let status = |name: &str, hard: Value, used: Value| {
                let body = json!({"status": {"hard": hard, "used": used}});
                Step("PATCH", format!("{quotas}/{name}/status"), "application/merge-patch+json", body)
            };
            let map = |name: &str| {
                Step("POST", stage.config_maps(), JSON, json!({"metadata": {"name": name}}))
            };
            let service = |name: &str, ty: &str| {
                let spec = json!({"type": ty, "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]});
                Step("POST", path(stage, "services"), JSON, json!({"metadata": {"name": name}, "spec": spec}))
            };
            let cpu = |limit: &str| json!({"limits": {"cpu": limit}, "requests": {"memory": "100Mi"}});
            let deployments = format!("/apis/apps/v1/namespaces/{}/deployments", stage.namespace);
            let deployment = json!({
                "metadata": {"name": "d"},
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
                },
            });
            vec![
                status("counts", json!({"configmaps": "2", "count/deployments.apps": "0", "services.nodeports": "1"}), json!({"configmaps": "0", "count/deployments.apps": "0", "services.nodeports": "0"})),
                status("compute", json!({"limits.cpu": "2", "requests.memory": "1Gi"}), json!({"limits.cpu": "0", "requests.memory": "0"})),
                status("storage", json!({"requests.storage": "10Gi", "gold.storageclass.storage.k8s.io/requests.storage": "1Gi"}), json!({"requests.storage": "0", "gold.storageclass.storage.k8s.io/requests.storage": "0"})),
                status("best", json!({"pods": "1"}), json!({"pods": "0"})),
                map("one"),
                map("two"),
                map("three"),
                Step("POST", deployments, JSON, deployment),
                service("plain", "ClusterIP"),
                service("ports", "NodePort"),
                pod(stage, "none", json!({})),
                pod(stage, "half", json!({"limits": {"cpu": "1"}})),
                pod(stage, "one", cpu("1500m")),
                pod(stage, "two", cpu("600m")),
                pod(stage, "three", cpu("500m")),
                claim(stage, "five", "5Gi"),
                claim(stage, "six", "6Gi"),
                Step("GET", format!("{quotas}/counts"), JSON, Value::Null),
                Step("GET", format!("{quotas}/compute"), JSON, Value::Null),
                Step("GET", format!("{quotas}/storage"), JSON, Value::Null),
            ]
        },
    )
    .await;
}
