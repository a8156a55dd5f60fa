//! Mutations by apply configurations.

use serde_json::{Value, json};

use super::{
    super::pair::{Step, play},
    JSON, answer, apply, create, deployment, one_each, patch,
};

fn configurations() -> Vec<(&'static str, Value)> {
    [
        ("empty", "Object{}"),
        ("data", "Object{data: {'a': 'b', 'key': object.data.key + '!'}}"),
        ("fields", "Object{data: Object.data{a: 'b'}}"),
        ("labels", "Object{metadata: Object.metadata{labels: Object.metadata.labels{more: 'x'}, annotations: {'a': 'b'}}}"),
        ("owner", "Object{metadata: Object.metadata{finalizers: ['example.com/a']}}"),
        ("chosen", "has(object.binaryData) ? Object{data: {'a': 'b'}} : Object{data: {'c': 'd'}}"),
        ("maybe", "Object{?data: has(object.data) ? optional.none() : optional.of({'a': 'b'}), ?immutable: optional.of(true)}"),
        ("read", "Object{data: {'x': string(Object{a: 1}.a) + string(has(Object{a: 1}.b)), 'y': string(Object{a: 1} == Object{a: 1})}}"),
        ("unknown", "Object{nothing: 'x'}"),
        ("type", "Object{data: {'a': 5}}"),
        ("list", "Object{data: ['a']}"),
        ("wrong-type", "Object{metadata: Object.metadata{labels: Object.metadata.wrong{more: 'x'}}}"),
        ("failing", "Object{data: {'a': object.data.nothing}}"),
        ("invalid", "Object{data: {'a b': 'x'}}"),
        ("null", "Object{data: null}"),
    ]
    .map(|(name, expression)| (name, apply(expression)))
    .into()
}

#[operetta_harness::test]
async fn configurations_are_laid_over_objects_or_refused_in_the_same_words() {
    play(
        answer,
        |stage| one_each(stage, &configurations()),
        |stage| configurations().iter().map(|(name, _)| create(stage, name)).collect(),
    )
    .await;
}

fn of_deployments() -> Vec<(&'static str, Value)> {
    let nested = |inner: &str| {
        format!(
            "Object{{spec: Object.spec{{template: Object.spec.template{{spec: Object.spec.template.spec{{{inner}}}}}}}}}"
        )
    };
    let containers = "Object.spec.template.spec.containers";
    let inits = "Object.spec.template.spec.initContainers";
    vec![
        ("replicas", apply("Object{spec: Object.spec{replicas: 3}}")),
        (
            "sidecar",
            apply(&nested(&format!(
                "initContainers: [{inits}{{name: 'mesh', image: 'mesh:1', restartPolicy: 'Always'}}]"
            ))),
        ),
        (
            "merged",
            apply(&nested(&format!(
                "containers: object.spec.template.spec.containers.map(c, {containers}{{name: c.name, env: [{containers}.env{{name: 'A', value: 'b'}}]}})"
            ))),
        ),
        ("keyless", apply(&nested(&format!("containers: [{containers}{{image: 'x'}}]")))),
        (
            "atomic",
            apply(&nested(&format!("containers: [{containers}{{name: 'c', args: ['-v']}}]"))),
        ),
        (
            "atomics",
            apply(
                "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'c'}}}}",
            ),
        ),
        (
            "duplicate",
            apply(&nested(&format!(
                "containers: [{containers}{{name: 'c'}}, {containers}{{name: 'c'}}]"
            ))),
        ),
        (
            "sidecar-patch",
            patch(&format!(
                "[JSONPatch{{op: 'add', path: '/spec/template/spec/containers/-', value: {containers}{{name: 's', image: 'x', ports: [{containers}.ports{{containerPort: 80}}]}}}}]"
            )),
        ),
        (
            "strict-patch",
            patch(&format!(
                "[JSONPatch{{op: 'add', path: '/spec/template/spec/containers/-', value: {containers}{{name: 's', image: 'x', porte: 'y'}}}}]"
            )),
        ),
    ]
}

#[operetta_harness::test]
async fn lists_of_deployments_are_merged_by_their_keys() {
    play(
        answer,
        |stage| one_each(stage, &of_deployments()),
        |stage| {
            let deployments = format!("/apis/apps/v1/namespaces/{}/deployments", stage.namespace);
            let mut steps = Vec::new();
            for (name, _) in of_deployments() {
                steps.push(Step("POST", deployments.clone(), JSON, deployment(name)));
                let spec = format!("{deployments}/{name}?fieldManager=x");
                let merge = "application/merge-patch+json";
                steps.push(Step("PATCH", spec, merge, json!({"spec": {"paused": true}})));
            }
            steps
        },
    )
    .await;
}
