//! Mutating and validating webhooks.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::pair::{Stage, Step, play};

const JSON: &str = "application/json";

fn answer(path: &str, review: &Value) -> Option<(u16, &'static str, String)> {
    let uid = &review["request"]["uid"];
    let version = &review["apiVersion"];
    let respond = |mut response: Value| {
        response["uid"] = uid.clone();
        let body = json!({"apiVersion": version, "kind": "AdmissionReview", "response": response});
        Some((200, JSON, body.to_string()))
    };
    let patch = |patch: Value| {
        let patch = STANDARD.encode(patch.to_string());
        respond(json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
    };
    let set = |field: &str, value: &str| {
        let mut patches = Vec::new();
        if review["request"]["object"]["data"].is_null() {
            patches.push(json!({"op": "add", "path": "/data", "value": {}}));
        }
        patches.push(json!({"op": "add", "path": format!("/data/{field}"), "value": value}));
        patch(json!(patches))
    };
    let seen = || {
        let data = review["request"]["object"]["data"].as_object();
        data.map_or(0, serde_json::Map::len).to_string()
    };
    match path {
        "/ready" | "/deny" => respond(json!({"allowed": false})),
        "/deny-message" => respond(json!({"allowed": false, "status": {"message": "not today"}})),
        "/deny-status" => respond(json!({
            "allowed": false,
            "warnings": ["it was close"],
            "status": {
                "message": "gone", "reason": "Gone", "code": 410,
                "details": {"kind": "x", "causes": [{"field": "f", "message": "m", "reason": "r"}]},
            },
        })),
        "/deny-reason" => {
            respond(json!({"allowed": false, "status": {"reason": "BecauseOfThis", "code": 200}}))
        }
        "/allow" | "/a" | "/b" | "/c" => respond(json!({"allowed": true})),
        "/warn" => {
            respond(json!({"allowed": true, "warnings": ["beware \"of\" it", "twice", "twice"]}))
        }
        "/set-one" => set("one", &seen()),
        "/set-two" => set("two", &seen()),
        "/set-three" => set("three", &seen()),
        "/patch-missing" => {
            patch(json!([{"op": "replace", "path": "/data/nothing", "value": "x"}]))
        }
        "/patch-path" => patch(json!([{"op": "add", "path": "/spec/nothing/deep", "value": "x"}])),
        "/patch-remove" => patch(json!([{"op": "remove", "path": "/metadata/nothing"}])),
        "/patch-test" => patch(json!([{"op": "test", "path": "/kind", "value": "Secret"}])),
        "/patch-invalid" => patch(json!([{"op": "add", "path": "/data", "value": {"a b": "c"}}])),
        "/patch-type" => patch(json!([{"op": "add", "path": "/data", "value": 5}])),
        "/patch-unknown" => patch(json!([{"op": "add", "path": "/undeclared", "value": 5}])),
        "/patch-empty" => patch(json!([])),
        "/wrong-uid" => Some((
            200,
            JSON,
            json!({
                "apiVersion": version, "kind": "AdmissionReview",
                "response": {"uid": "other", "allowed": true},
            })
            .to_string(),
        )),
        "/no-kind" => {
            Some((200, JSON, json!({"response": {"uid": uid, "allowed": true}}).to_string()))
        }
        "/no-response" => {
            Some((200, JSON, json!({"apiVersion": version, "kind": "AdmissionReview"}).to_string()))
        }
        "/no-patch-type" => respond(json!({"allowed": true, "patch": STANDARD.encode("[]")})),
        "/500" => Some((500, "text/plain", "boom \"x\"\n".to_owned())),
        "/500-json" => Some((500, JSON, "{}".to_owned())),
        "/404" => Some((404, "text/plain", "no".to_owned())),
        "/403" => Some((403, "text/plain", "you may not".to_owned())),
        "/400" => Some((400, "text/plain", "bad".to_owned())),
        "/302" => Some((303, "text/plain", "elsewhere".to_owned())),
        "/slow" => None,
        other => Some((404, "text/plain", format!("no {other}"))),
    }
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": name}}, "data": {"key": "value"}})
}

fn create(stage: &Stage, name: &str) -> Step {
    Step("POST", stage.config_maps(), JSON, config_map(name))
}

/// Selects the object of one step.
fn only(name: &str) -> Value {
    json!({"matchLabels": {"app": name}})
}

#[operetta_harness::test]
async fn webhooks_see_the_same_requests_and_refuse_in_the_same_words() {
    play(
        answer,
        |stage| {
            let mutating = [
                "set-one",
                "patch-missing",
                "patch-path",
                "patch-remove",
                "patch-test",
                "patch-invalid",
                "patch-type",
                "patch-unknown",
                "patch-empty",
                "no-patch-type",
                "deny-message",
            ];
            let validating = [
                "deny",
                "deny-status",
                "deny-reason",
                "warn",
                "wrong-uid",
                "no-kind",
                "no-response",
                "500",
                "500-json",
                "404",
                "403",
                "400",
                "302",
            ];
            let all = |paths: &[&str]| -> Vec<Value> {
                let webhook = |path: &&str| {
                    stage.webhook(&format!("/{path}"), json!({"objectSelector": only(path)}))
                };
                paths.iter().map(webhook).collect()
            };
            vec![
                stage.configuration("MutatingWebhookConfiguration", "m", &all(&mutating)),
                stage.configuration("ValidatingWebhookConfiguration", "v", &all(&validating)),
            ]
        },
        |stage| {
            let names = [
                "set-one",
                "patch-missing",
                "patch-path",
                "patch-remove",
                "patch-test",
                "patch-invalid",
                "patch-type",
                "patch-unknown",
                "patch-empty",
                "no-patch-type",
                "deny-message",
                "deny",
                "deny-status",
                "deny-reason",
                "warn",
                "wrong-uid",
                "no-kind",
                "no-response",
                "500",
                "500-json",
                "404",
                "403",
                "400",
                "302",
            ];
            names.iter().map(|name| create(stage, name)).collect()
        },
    )
    .await;
}

#[operetta_harness::test]
async fn each_kind_of_write_is_sent_with_its_operation_and_options() {
    play(
        answer,
        |stage| {
            let rules = json!([{
                "apiGroups": ["", "apps"], "apiVersions": ["v1"], "operations": ["*"],
                "resources": ["configmaps", "namespaces", "deployments", "deployments/*", "namespaces/*"],
            }]);
            vec![
                stage.configuration("MutatingWebhookConfiguration", "m", &[stage.webhook("/a", json!({"rules": rules}))]),
                stage.configuration("ValidatingWebhookConfiguration", "v", &[stage.webhook("/allow", json!({"rules": rules}))]),
            ]
        },
        |stage| {
            let maps = stage.config_maps();
            let one = format!("{maps}/one");
            let namespace = format!("/api/v1/namespaces/{}", stage.namespace);
            let deployments = format!("/apis/apps/v1/namespaces/{}/deployments", stage.namespace);
            let deployment = json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
                },
            });
            let merge = "application/merge-patch+json";
            let apply = "application/apply-patch+yaml";
            let mut other = config_map("other");
            other["metadata"]["generateName"] = json!("made-");
            other["metadata"].as_object_mut().unwrap().remove("name");
            vec![
                create(stage, "one"),
                create(stage, "one"),
                Step("POST", format!("{maps}?dryRun=All&fieldManager=me&fieldValidation=Strict"), JSON, config_map("two")),
                Step("POST", maps.clone(), JSON, other),
                Step("PUT", one.clone(), JSON, config_map("one")),
                Step("PUT", format!("{one}?fieldManager=me"), JSON, json!({"metadata": {"name": "one"}, "data": {"a": "b"}})),
                Step("PUT", one.clone(), JSON, json!({"metadata": {"name": "one", "resourceVersion": "1"}})),
                Step("PATCH", one.clone(), merge, json!({"data": {"c": "d"}})),
                Step("PATCH", one.clone(), merge, json!({})),
                Step("PATCH", format!("{maps}/gone"), merge, json!({})),
                Step("PATCH", format!("{maps}/applied?fieldManager=me&force=true"), apply, config_map("applied")),
                Step("PATCH", format!("{maps}/applied?fieldManager=me&force=true"), apply, config_map("applied")),
                Step("DELETE", format!("{one}?dryRun=All"), JSON, Value::Null),
                Step("DELETE", one.clone(), JSON, json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"})),
                Step("DELETE", one.clone(), JSON, Value::Null),
                Step("DELETE", format!("{maps}?labelSelector=app%3Dapplied"), JSON, Value::Null),
                Step("PATCH", namespace.clone(), merge, json!({"metadata": {"labels": {"x": "y"}}})),
                Step("POST", deployments.clone(), JSON, deployment),
                Step("PATCH", format!("{deployments}/d/status"), merge, json!({"status": {"observedGeneration": 1}})),
                Step("PATCH", format!("{deployments}/d/scale"), merge, json!({"spec": {"replicas": 3}})),
                Step("DELETE", format!("{deployments}/d"), JSON, Value::Null),
            ]
        },
    )
    .await;
}

#[operetta_harness::test]
async fn webhooks_are_asked_in_order_and_again_where_they_want_to() {
    play(
        answer,
        |stage| {
            let again = json!({"reinvocationPolicy": "IfNeeded"});
            vec![
                stage.configuration(
                    "MutatingWebhookConfiguration",
                    "b",
                    &[stage.webhook("/set-three", json!({})), stage.webhook("/b", again.clone())],
                ),
                stage.configuration(
                    "MutatingWebhookConfiguration",
                    "a",
                    &[
                        stage.webhook("/set-two", again.clone()),
                        stage.webhook("/a", again),
                        stage.webhook("/set-one", json!({"objectSelector": only("one")})),
                    ],
                ),
            ]
        },
        |stage| vec![create(stage, "one"), create(stage, "two")],
    )
    .await;
}

#[operetta_harness::test]
async fn what_fails_or_may_have_effects_is_ignored_or_refused_as_configured() {
    play(
        answer,
        |stage| {
            let ignore = |name: &str| {
                json!({"failurePolicy": "Ignore", "objectSelector": only(name)})
            };
            let nobody = |fields: Value| {
                let mut webhook = stage.webhook("/nobody", fields);
                webhook["clientConfig"]["url"] = json!("https://127.0.0.1:1/nobody");
                webhook
            };
            let stranger = || {
                let mut webhook = stage.webhook("/stranger", json!({"objectSelector": only("stranger")}));
                webhook["clientConfig"]["caBundle"] = json!(STRANGER);
                webhook["clientConfig"]["url"] = json!(format!("https://127.0.0.1:{}/allow", stage.hook.port));
                webhook
            };
            let service = || {
                let mut webhook = stage.webhook("/service", json!({"objectSelector": only("service")}));
                webhook["clientConfig"] = json!({"service": {"name": "none", "namespace": stage.namespace, "path": "/x"}});
                webhook
            };
            vec![stage.configuration("ValidatingWebhookConfiguration", "v", &[
                stage.webhook("/500", ignore("ignored")),
                stage.webhook("/deny", ignore("denied")),
                nobody(json!({"objectSelector": only("nobody")})),
                stage.webhook("/slow", json!({"timeoutSeconds": 1, "objectSelector": only("slow")})),
                stage.webhook("/allow", json!({"sideEffects": "NoneOnDryRun", "objectSelector": only("dry")})),
                stage.webhook("/b", json!({"admissionReviewVersions": ["v9", "v1beta1", "v1"], "objectSelector": only("beta")})),
                stranger(),
                service(),
            ])]
        },
        |stage| {
            let mut steps: Vec<_> = ["ignored", "denied", "nobody", "slow", "beta", "stranger", "service"]
                .iter()
                .map(|name| create(stage, name))
                .collect();
            steps.push(Step("POST", format!("{}?dryRun=All", stage.config_maps()), JSON, config_map("dry")));
            steps
        },
    )
    .await;
}

/// A certificate of someone else.
const STRANGER: &str = "";

#[operetta_harness::test]
async fn what_is_sent_to_subresources_is_shown_too() {
    play(
        answer,
        |stage| {
            let rules = json!([{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["pods/eviction", "pods/binding", "serviceaccounts/token"],
            }]);
            let webhook = |path: &str| stage.webhook(path, json!({"rules": rules}));
            vec![
                stage.configuration("MutatingWebhookConfiguration", "m", &[webhook("/a")]),
                stage.configuration("ValidatingWebhookConfiguration", "v", &[webhook("/deny")]),
            ]
        },
        |stage| {
            let of = |plural: &str, name: &str| {
                format!("/api/v1/namespaces/{}/{plural}/{name}", stage.namespace)
            };
            let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
            let accounts = of("serviceaccounts", "");
            let eviction = |name: &str| {
                json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})
            };
            let binding = json!({
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
                "target": {"apiVersion": "v1", "kind": "Node", "name": "n"},
            });
            let token = |spec: Value| {
                json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
            };
            vec![
                Step("POST", accounts.trim_end_matches('/').to_owned(), JSON, account),
                Step("POST", of("pods", "p/eviction"), JSON, eviction("p")),
                Step("POST", of("pods", "p/eviction"), JSON, eviction("other")),
                Step("POST", format!("{}?dryRun=All", of("pods", "p/eviction")), JSON, eviction("p")),
                Step("POST", of("pods", "p/binding"), JSON, binding),
                Step("POST", of("serviceaccounts", "a/token"), JSON, token(json!({}))),
                Step("POST", of("serviceaccounts", "a/token"), JSON, token(json!({"expirationSeconds": 5}))),
                Step("POST", of("serviceaccounts", "none/token"), JSON, token(json!({}))),
            ]
        },
    )
    .await;
}
