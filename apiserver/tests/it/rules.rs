//! Rules in CEL, as clients of custom resources see them.

use kube::{
    Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::common::{api, create, object, refusal, server};

const CRD: &str = "apiextensions.k8s.io/v1";

fn definition(rules: &Value, size: &Value) -> Value {
    json!({
        "apiVersion": CRD, "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {
                        "type": "object", "x-kubernetes-validations": rules,
                        "properties": {"size": {"type": "integer", "x-kubernetes-validations": size}}
                    },
                    "status": {"type": "object", "properties": {"done": {
                        "type": "integer",
                        "x-kubernetes-validations": [{"rule": "self >= 0", "message": "must not be negative"}]
                    }}}
                }}}
            }]
        }
    })
}

async fn define(client: &Client) {
    let rules = json!([{"rule": "self.size < 10", "messageExpression": "self.size > 99 ? 'far too large' : 'too large'"}]);
    let size = json!([{"rule": "self >= oldSelf", "message": "must not shrink"}]);
    create(&api(client, CRD, "CustomResourceDefinition", ""), definition(&rules, &size)).await;
}

fn widget(size: i64) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"size": size}
    })
}

#[operetta_harness::test]
async fn a_rule_that_is_not_kept_refuses_the_object() {
    let (_server, client) = server();
    define(&client).await;
    let widgets = api(&client, "example.com/v1", "Widget", "default");
    let (code, reason, message) =
        refusal(widgets.create(&PostParams::default(), &object(widget(10))).await);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    assert_eq!(message, "Widget.example.com \"a\" is invalid: spec: Invalid value: too large");
}

#[operetta_harness::test]
async fn a_transition_rule_compares_with_the_value_before_the_update() {
    let (_server, client) = server();
    define(&client).await;
    let widgets = api(&client, "example.com/v1", "Widget", "default");
    create(&widgets, widget(3)).await;
    let size = |size: i64| Patch::Merge(json!({"spec": {"size": size}}));
    widgets.patch("a", &PatchParams::default(), &size(4)).await.unwrap();
    let (code, _, message) = refusal(widgets.patch("a", &PatchParams::default(), &size(3)).await);
    assert_eq!(code, 422);
    assert_eq!(
        message,
        "Widget.example.com \"a\" is invalid: spec.size: Invalid value: 3: must not shrink"
    );
}

#[operetta_harness::test]
async fn rules_are_judged_for_a_written_status() {
    let (_server, client) = server();
    define(&client).await;
    let widgets = api(&client, "example.com/v1", "Widget", "default");
    create(&widgets, widget(3)).await;
    let done = |done: i64| Patch::Merge(json!({"status": {"done": done}}));
    widgets.patch_status("a", &PatchParams::default(), &done(1)).await.unwrap();
    let (code, _, message) =
        refusal(widgets.patch_status("a", &PatchParams::default(), &done(-1)).await);
    assert_eq!(code, 422);
    assert!(message.contains("status.done: Invalid value: -1: must not be negative"), "{message}");
}

#[operetta_harness::test]
async fn a_rule_that_does_not_compile_refuses_the_definition() {
    let (_server, client) = server();
    let rules = json!([{"rule": "self.wight > 0"}]);
    let definitions = api(&client, CRD, "CustomResourceDefinition", "");
    let created =
        definitions.create(&PostParams::default(), &object(definition(&rules, &json!([])))).await;
    let (code, _, message) = refusal(created);
    assert_eq!(code, 422);
    assert!(message.contains("undefined field 'wight'\n | self.wight > 0\n | ....^"), "{message}");
}
