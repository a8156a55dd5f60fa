//! Variables, conditions, parameters, and the order in which policies are evaluated.

use serde_json::{Value, json};

use super::{super::pair::play, answer, binding, config_map, create, patch, policy, ready};

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
