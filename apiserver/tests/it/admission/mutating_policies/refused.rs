//! Policies that are refused because their mutations do not compile.

use serde_json::{Value, json};

use super::{
    super::pair::{Step, play},
    JSON, answer, apply, binding, patch, policy,
};

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
