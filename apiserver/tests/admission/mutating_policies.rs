//! Mutating admission policies.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::pair::{Stage, Step, play};

const JSON: &str = "application/json";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// A webhook that adds a label.
fn answer(_: &str, review: &Value) -> Option<(u16, &'static str, String)> {
    let patch = json!([{"op": "add", "path": "/data/hooked", "value": "yes"}]);
    let response = json!({
        "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch",
        "patch": STANDARD.encode(patch.to_string()),
    });
    let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Some((200, JSON, answer.to_string()))
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": name}},
        "data": {"key": "value", "number": "5"},
    })
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}]},
            },
        },
    })
}

fn create(stage: &Stage, name: &str) -> Step {
    Step("POST", stage.config_maps(), JSON, config_map(name))
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

fn apply(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

/// A policy about the objects of the scene that have its name as a label.
fn policy(stage: &Stage, name: &str, mutations: &[Value], rest: Value) -> (String, Value) {
    let mut spec = json!({
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}},
            "objectSelector": {"matchLabels": {"app": name}},
            "resourceRules": [{
                "apiGroups": ["", "apps"], "apiVersions": ["v1"], "operations": ["*"],
                "resources": ["configmaps", "deployments"],
            }],
        },
        "reinvocationPolicy": "Never",
        "mutations": mutations,
    });
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": format!("{}-{name}", stage.namespace)}, "spec": spec,
    });
    (format!("{GROUP}/mutatingadmissionpolicies"), object)
}

fn binding(stage: &Stage, name: &str, rest: Value) -> (String, Value) {
    let name = format!("{}-{name}", stage.namespace);
    let mut spec = json!({"policyName": name});
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": spec,
    });
    (format!("{GROUP}/mutatingadmissionpolicybindings"), object)
}

/// The last one created, which shows that all have effect.
fn ready(stage: &Stage) -> Vec<(String, Value)> {
    let name = "zz-ready";
    let refusing = patch("[JSONPatch{op: 'remove', path: '/nothing'}]");
    let (path, mut policy) = policy(stage, name, &[refusing], json!({}));
    let (of_bindings, binding) = binding(stage, name, json!({}));
    policy["spec"]["matchConstraints"]["objectSelector"] =
        json!({"matchLabels": {"ready": binding["metadata"]["name"]}});
    vec![(path, policy), (of_bindings, binding)]
}

/// Policies of one mutation each, for the object of their name.
fn one_each(stage: &Stage, mutations: &[(&str, Value)]) -> Vec<(String, Value)> {
    let mut objects = Vec::new();
    for (name, mutation) in mutations {
        objects.push(policy(stage, name, std::slice::from_ref(mutation), json!({})));
        objects.push(binding(stage, name, json!({})));
    }
    objects.extend(ready(stage));
    objects
}

fn patches() -> Vec<(&'static str, Value)> {
    [
        ("add", "[JSONPatch{op: 'add', path: '/data/more', value: 'x'}]"),
        ("none", "size(object.data) > 9 ? [JSONPatch{op: 'remove', path: '/data'}] : []"),
        ("remove", "[JSONPatch{op: 'remove', path: '/data/key'}]"),
        ("replace", "[JSONPatch{op: 'replace', path: '/data/key', value: object.data.key + '!'}]"),
        ("copy", "[JSONPatch{op: 'copy', from: '/data/key', path: '/data/copied'}]"),
        ("move", "[JSONPatch{op: 'move', from: '/data/key', path: '/data/moved'}]"),
        (
            "test",
            "[JSONPatch{op: 'test', path: '/data/key', value: 'value'}, \
             JSONPatch{op: 'add', path: '/data/tested', value: 'x'}]",
        ),
        (
            "failed-test",
            "[JSONPatch{op: 'add', path: '/data/tested', value: 'x'}, \
             JSONPatch{op: 'test', path: '/data/key', value: 'other'}]",
        ),
        (
            "escape",
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c~d'.replace('~', '-')), value: 'x'}]",
        ),
        ("map", "[JSONPatch{op: 'add', path: '/data', value: {'a': 'b', 'c': string(object.data.key)}}]"),
        (
            "object",
            "[JSONPatch{op: 'add', path: '/metadata/annotations', value: Object.metadata.annotations{foo: 'bar'}}]",
        ),
        (
            "mapped",
            "object.data.map(k, JSONPatch{op: 'add', path: '/data/x-' + k, value: object.data[k]})",
        ),
        (
            "optional",
            "[JSONPatch{op: 'add', path: '/data/opt', ?value: optional.of('y')}, \
             JSONPatch{op: 'add', path: '/data/opt2', value: object.?data.?nothing.orValue('z')}]",
        ),
        ("missing-value", "[JSONPatch{op: 'add', path: '/data/nothing'}]"),
        ("number", "[JSONPatch{op: 'add', path: '/data/five', value: 5}]"),
        ("unknown-field", "[JSONPatch{op: 'add', path: '/undeclared', value: 'x'}]"),
        ("no-parent", "[JSONPatch{op: 'add', path: '/spec/deep/er', value: 'x'}]"),
        ("no-key", "[JSONPatch{op: 'remove', path: '/data/none'}]"),
        ("no-replace", "[JSONPatch{op: 'replace', path: '/spec/none', value: 'x'}]"),
        ("no-from", "[JSONPatch{op: 'move', from: '/data/none', path: '/data/x'}]"),
        ("wish", "[JSONPatch{op: 'wish', path: '/data/none'}]"),
        ("no-path", "[JSONPatch{op: 'remove'}]"),
        ("misnamed", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: Object.metadata{annotations: Object.metadata.wrong{a: 'b'}}}]"),
        ("failing", "[JSONPatch{op: 'add', path: '/data/x', value: object.data.nothing}]"),
        ("invalid", "[JSONPatch{op: 'add', path: '/data/a b', value: 'x'}]"),
        ("renamed", "[JSONPatch{op: 'replace', path: '/metadata/name', value: 'x'}]"),
        ("no-origin", "[JSONPatch{op: 'copy', path: '/data/x'}]"),
        ("no-destination", "[JSONPatch{op: 'move', from: '/data/key', path: '/spec/x'}]"),
        (
            "no-index",
            "[JSONPatch{op: 'add', path: '/metadata/finalizers', value: ['example.com/a']}, \
             JSONPatch{op: 'remove', path: '/metadata/finalizers/3'}]",
        ),
    ]
    .map(|(name, expression)| (name, patch(expression)))
    .into()
}

#[operetta_harness::test]
async fn patches_change_objects_or_refuse_in_the_same_words() {
    play(
        answer,
        |stage| one_each(stage, &patches()),
        |stage| {
            let mut steps: Vec<_> = patches().iter().map(|(name, _)| create(stage, name)).collect();
            let maps = stage.config_maps();
            let merge = "application/merge-patch+json";
            steps.extend([
                Step("PATCH", format!("{maps}/replace"), merge, json!({"data": {"key": "next"}})),
                Step("PUT", format!("{maps}/add?dryRun=All"), JSON, config_map("add")),
                Step("DELETE", format!("{maps}/add"), JSON, Value::Null),
            ]);
            steps
        },
    )
    .await;
}

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

#[operetta_harness::test]
async fn policies_have_variables_conditions_parameters_and_rounds() {
    play(
        answer,
        |stage| {
            let add = |key: &str, value: &str| {
                patch(&format!("[JSONPatch{{op: 'add', path: '/data/{key}', value: {value}}}]"))
            };
            let counted = patch(
                "[JSONPatch{op: 'add', path: '/data/n' + string(size(object.data)), value: 'x'}]",
            );
            let named = |name: &str, mutations: &[Value], rest: Value| {
                [policy(stage, name, mutations, rest), binding(stage, name, json!({}))]
            };
            let params = |name: &str, reference: Value| {
                let kind = json!({"apiVersion": "v1", "kind": "ConfigMap"});
                [
                    policy(
                        stage,
                        name,
                        &[add("given", "params.data.wanted")],
                        json!({"paramKind": kind}),
                    ),
                    binding(stage, name, json!({"paramRef": reference})),
                ]
            };
            let condition = |expression: &str| json!([{"name": "c", "expression": expression}]);
            let missing = patch("[JSONPatch{op: 'remove', path: '/data/none'}]");
            let mut parameter = config_map("one");
            parameter["data"] = json!({"wanted": "1"});
            let mut all = vec![(stage.config_maps(), parameter)];
            all.extend(named(
                "variables",
                &[add("v", "variables.long"), add("w", "variables.long + object.data.v")],
                json!({"variables": [
                    {"name": "key", "expression": "object.data.key"},
                    {"name": "long", "expression": "variables.key + string(size(object.data))"},
                ]}),
            ));
            all.extend(named(
                "unmet",
                &[add("x", "'y'")],
                json!({"matchConditions": condition("request.operation != 'CREATE'")}),
            ));
            all.extend(named(
                "met",
                &[add("x", "'y'")],
                json!({"matchConditions": condition("request.operation == 'CREATE'")}),
            ));
            all.extend(named(
                "broken",
                &[add("x", "'y'")],
                json!({"matchConditions": condition("object.data.none == 'x'")}),
            ));
            all.extend(named(
                "ignored",
                &[missing.clone(), add("x", "'y'")],
                json!({"failurePolicy": "Ignore"}),
            ));
            all.extend(named("both", &[missing.clone(), add("x", "'y'"), missing], json!({})));
            all.extend(named("once", std::slice::from_ref(&counted), json!({})));
            all.extend(named(
                "again",
                std::slice::from_ref(&counted),
                json!({"reinvocationPolicy": "IfNeeded"}),
            ));
            all.extend(named(
                "again-hooked",
                std::slice::from_ref(&counted),
                json!({"reinvocationPolicy": "IfNeeded"}),
            ));
            all.extend(named("hooked", &[counted], json!({})));
            all.extend(named(
                "authorized",
                &[add(
                    "may",
                    "string(authorizer.group('').resource('pods').check('get').allowed())",
                )],
                json!({}),
            ));
            all.push(policy(stage, "unbound", &[add("x", "'y'")], json!({})));
            all.extend(params(
                "by-name",
                json!({"name": "one", "parameterNotFoundAction": "Deny"}),
            ));
            all.extend(params(
                "absent",
                json!({"name": "none", "parameterNotFoundAction": "Deny"}),
            ));
            all.extend(params(
                "allowed",
                json!({"name": "none", "parameterNotFoundAction": "Allow"}),
            ));
            all.extend(named(
                "no-kind",
                &[add("x", "'y'")],
                json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Nothing"}}),
            ));
            all.push(stage.configuration(
                "MutatingWebhookConfiguration",
                "m",
                &["hooked", "again-hooked"].map(|name| {
                    let only = json!({"matchLabels": {"app": name}});
                    stage.webhook(
                        "/set",
                        json!({"name": format!("{name}.example.com"), "objectSelector": only}),
                    )
                }),
            ));
            all.extend(ready(stage));
            all
        },
        |stage| {
            [
                "variables",
                "unmet",
                "met",
                "broken",
                "ignored",
                "both",
                "once",
                "again",
                "again-hooked",
                "hooked",
                "authorized",
                "unbound",
                "by-name",
                "absent",
                "allowed",
                "no-kind",
            ]
            .iter()
            .map(|name| create(stage, name))
            .collect()
        },
    )
    .await;
}

/// Mutations that are refused with their policy.
fn wrong() -> Vec<Value> {
    let applied = |expression: &str| json!({"mutations": [apply(expression)]});
    let patched = |expression: &str| json!({"mutations": [patch(expression)]});
    vec![
        patched("JSONPatch{op: 'add', path: '/x'}"),
        patched("[]"),
        patched("[1]"),
        patched("[JSONPatch{op: 1, path: '/x'}]"),
        patched("[JSONPatch{op: 'add', path: Invalid{}, value: 3}]"),
        patched("[JSONPatch{op: 'add', wrong: 'x'}]"),
        patched("[JSONPatch{op: 'add', ?path: 'x'}]"),
        patched("[Object{}]"),
        patched("[JSONPatch{op: 'add', path: '/x', value: nothing}]"),
        patched("[JSONPatch{op: 'add', path: jsonpatch.escapeKey(1)}]"),
        patched("  [ JSONPatch{op: 'add', path: variables.none} ]  "),
        patched("[JSONPatch{op: 'add', path: '/x', value: [1, 'a']}]"),
        patched("[JSONPatch{op: 'add', path: '/data', value: {'a': 'b', 'c': object.data.key}}]"),
        patched("[JSONPatch{op: 'add', path: '/x'"),
        patched("[JSONPatch{op: 'add', path: '/x'}.nothing]"),
        applied("object"),
        applied("Object.spec{}"),
        applied("{}"),
        applied("Other{}"),
        applied("Object{spec: params.x}"),
        applied("Object{spec: Objects.spec{a: 1}}"),
        applied("Object{a: Object.a{b: 1 + 'x'}}"),
        applied("true ? Object{} : null"),
        json!({"variables": [{"name": "a", "expression": "Object{}"}], "mutations": [apply("variables.a")]}),
        json!({"variables": [{"name": "a", "expression": "jsonpatch.escapeKey('x')"}], "mutations": [apply("Object{}")]}),
        json!({"matchConditions": [{"name": "a", "expression": "Object{} == Object{}"}], "mutations": [apply("Object{}")]}),
        json!({"mutations": []}),
        json!({"mutations": [{"patchType": "JSONPatch"}]}),
        json!({"mutations": [{"patchType": "Other", "jsonPatch": {"expression": "[]"}}]}),
        json!({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": " "}}]}),
        json!({"mutations": [apply("Object{}")], "reinvocationPolicy": "Sometimes"}),
        json!({"mutations": [apply("Object{}")], "failurePolicy": "Sometimes"}),
    ]
}

#[operetta_harness::test]
async fn mutations_that_do_not_compile_are_refused_with_the_policy() {
    play(
        answer,
        |_| Vec::new(),
        |stage| {
            let step = |(at, rest): (usize, Value)| {
                let (path, policy) = policy(stage, &format!("wrong{at}"), &[], rest);
                Step("POST", format!("{path}?dryRun=All"), JSON, policy)
            };
            let mut steps: Vec<_> = wrong().into_iter().enumerate().map(step).collect();
            let (path, good) = policy(stage, "good", &[apply("Object{}")], json!({}));
            steps.push(Step("POST", format!("{path}?dryRun=All"), JSON, good));
            let (path, good) = binding(stage, "good", json!({"matchResources": {}}));
            steps.push(Step("POST", format!("{path}?dryRun=All"), JSON, good));
            steps
        },
    )
    .await;
}
