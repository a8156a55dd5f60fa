//! An override has the result of the same strategic merge patch on the server.

use kube::api::{Patch, PatchParams};
use operetta::recipes::Overrides;
use serde_json::{Value, json};

use crate::world::{DEPLOYMENT, Kind, SERVICE, World};

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": {"app": "shop"}},
            "strategy": {"rollingUpdate": {"maxSurge": 3}, "type": "RollingUpdate"},
            "template": {"metadata": {"labels": {"app": "shop"}}, "spec": {
                "nodeSelector": {"disk": "fast", "zone": "a"},
                "tolerations": [{"key": "a", "operator": "Exists"}],
                "topologySpreadConstraints": [{
                    "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1,
                }],
                "containers": [
                    {
                        "name": "shop", "image": "shop:1", "args": ["-v"],
                        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                        "ports": [{"containerPort": 80}, {"containerPort": 81}],
                        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                    },
                    {"name": "log", "image": "log:1"},
                ],
                "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
            }},
        },
    })
}

fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {
            "ports": [{"name": "web", "port": 80}, {"name": "admin", "port": 81}],
        },
    })
}

/// Overrides of the Deployment.
fn of_deployments() -> [Value; 6] {
    let pod = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    [
        pod(json!({
            "containers": [
                {"name": "proxy", "image": "proxy:1", "env": [{"name": "X", "value": "y"}]},
                {
                    "name": "shop", "args": ["-q"], "resources": {"limits": {"memory": "1Gi"}},
                    "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}],
                    "ports": [{"containerPort": 81, "name": "admin"}],
                    "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": true}],
                },
            ],
            "nodeSelector": {"zone": null, "gpu": "true"},
            "tolerations": [{"key": "b", "operator": "Exists"}],
            "imagePullSecrets": [{"name": "pull"}],
        })),
        pod(json!({
            "containers": [
                {"name": "log", "$patch": "delete"},
                {"name": "shop", "env": [{"name": "A", "$patch": "delete"}], "volumeMounts": [{"$patch": "replace"}]},
            ],
            "volumes": [{"$patch": "replace"}, {"name": "data", "configMap": {"name": "c"}}],
            "nodeSelector": {"$patch": "replace", "disk": "slow"},
        })),
        pod(json!({
            "volumes": [{"name": "tmp", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}],
            "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 2}],
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
            "tolerations": null,
        })),
        json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}, "paused": true}}),
        json!({"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}}),
        json!({"metadata": {"labels": {"a": "b"}, "annotations": {"x": "y"}}, "spec": {"replicas": 2}}),
    ]
}

fn of_services() -> [Value; 2] {
    [
        json!({"spec": {"ports": [{"port": 81, "$patch": "delete"}, {"port": 82, "name": "more"}]}}),
        json!({"spec": {"ports": [{"port": 80, "targetPort": "http"}], "sessionAffinity": "ClientIP"}}),
    ]
}

/// What is compared: the order of the items with keys is another one on purpose.
fn content(mut object: Value) -> Value {
    let labels = object["metadata"]["labels"].take();
    let mut spec = object["spec"].take();
    spec.as_object_mut().unwrap().retain(|name, _| !["clusterIP", "clusterIPs"].contains(&&**name));
    sort(&mut spec);
    json!([spec, labels])
}

fn sort(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(sort),
        Value::Array(items) => {
            items.iter_mut().for_each(sort);
            items.sort_by_key(Value::to_string);
        }
        _ => {}
    }
}

async fn agree(world: &World, kind: Kind, base: fn(&str) -> Value, overrides: &[Value]) {
    for (number, overriding) in overrides.iter().enumerate() {
        let [patched, merged] = ["patched", "merged"].map(|name| format!("{name}-{number}"));
        world.create(kind, base(&patched)).await;
        let patch = Patch::Strategic(overriding);
        let theirs =
            world.api(kind).patch(&patched, &PatchParams::default(), &patch).await.unwrap();
        let ours = Overrides::of_objects().merge(&base(&merged), overriding).unwrap();
        let ours = world.create(kind, ours).await;
        let theirs = serde_json::to_value(theirs).unwrap();
        assert_eq!(content(ours), content(theirs), "{overriding}");
    }
}

#[operetta_harness::test(server)]
async fn an_override_has_the_result_of_a_strategic_merge_patch() {
    let world = World::new().await;
    agree(&world, DEPLOYMENT, deployment, &of_deployments()).await;
    agree(&world, SERVICE, service, &of_services()).await;
}
