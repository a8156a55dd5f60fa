//! Validating admission policies, and the conditions of webhooks.

use serde_json::{Value, json};

use super::pair::{Stage, Step, play};

const JSON: &str = "application/json";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

fn nobody(_: &str, _: &Value) -> Option<(u16, &'static str, String)> {
    Some((200, JSON, String::new()))
}

fn config_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": name}}, "data": data})
}

fn create(stage: &Stage, name: &str) -> Step {
    Step(
        "POST",
        stage.config_maps(),
        JSON,
        config_map(name, json!({"key": "value", "number": "5"})),
    )
}

/// A policy about config maps of the scene, the object of which has the name of the policy.
fn policy(stage: &Stage, name: &str, rest: Value) -> (String, Value) {
    let mut spec = json!({
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}},
            "objectSelector": {"matchLabels": {"app": name}},
            "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
            }],
        },
    });
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": format!("{}-{name}", stage.namespace)}, "spec": spec,
    });
    (format!("{GROUP}/validatingadmissionpolicies"), object)
}

fn binding(stage: &Stage, name: &str, rest: Value) -> (String, Value) {
    let name = format!("{}-{name}", stage.namespace);
    let mut spec = json!({"policyName": name, "validationActions": ["Deny"]});
    if let (Some(spec), Value::Object(rest)) = (spec.as_object_mut(), rest) {
        spec.extend(rest);
    }
    let object = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": spec,
    });
    (format!("{GROUP}/validatingadmissionpolicybindings"), object)
}

/// The last one created, which shows that all have effect.
fn ready(stage: &Stage) -> Vec<(String, Value)> {
    let name = "zz-ready";
    let (path, mut policy) = policy(stage, name, json!({"validations": [{"expression": "false"}]}));
    let (of_bindings, binding) = binding(stage, name, json!({}));
    policy["spec"]["matchConstraints"]["objectSelector"] =
        json!({"matchLabels": {"ready": binding["metadata"]["name"]}});
    vec![(path, policy), (of_bindings, binding)]
}

/// Rules, each for the object of its name.
const RULES: &[(&str, &str)] = &[
    ("true", r#"[{"expression": "true"}]"#),
    ("false", r#"[{"expression": "false"}]"#),
    ("message", r#"[{"expression": "object.data.key != 'value'", "message": "it must not be"}]"#),
    ("reason", r#"[{"expression": "false", "reason": "Forbidden"}]"#),
    ("large", r#"[{"expression": "false", "reason": "RequestEntityTooLarge"}]"#),
    (
        "expression",
        r#"[{"expression": "false", "messageExpression": "'it is ' + object.data.key", "message": "plain"}]"#,
    ),
    (
        "bad-message",
        r#"[{"expression": "false", "messageExpression": "object.nothing.at + 'x'", "message": "plain"}]"#,
    ),
    ("missing", r#"[{"expression": "object.data.nothing == 'x'"}]"#),
    (
        "second",
        r#"[{"expression": "true"}, {"expression": "size(object.data) > 7"}, {"expression": "false"}]"#,
    ),
    (
        "operation",
        r#"[{"expression": "request.operation != 'CREATE' || request.name != 'operation' || request.kind.kind != 'ConfigMap' || request.resource.resource != 'configmaps' || request.namespace == 'x' || has(request.subResource) || request.dryRun"}]"#,
    ),
    (
        "options",
        r#"[{"expression": "request.options.kind == 'CreateOptions'"}, {"expression": "false", "messageExpression": "string(size(request.options))"}]"#,
    ),
    (
        "namespace",
        r#"[{"expression": "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == request.namespace && namespaceObject.status.phase == 'Active'"}, {"expression": "oldObject != null"}]"#,
    ),
    ("number", r#"[{"expression": "int(object.data.number) > 5", "message": "more"}]"#),
    (
        "authorizer",
        r#"[{"expression": "authorizer.group('').resource('configmaps').check('create').allowed() && authorizer.requestResource.check('delete').allowed()"}, {"expression": "authorizer.path('/healthz').check('get').allowed()"}, {"expression": "authorizer.serviceAccount('default', 'nobody').group('').resource('pods').check('get').allowed()"}]"#,
    ),
    ("overload", r#"[{"expression": "object.data.key + 1 == 2"}]"#),
    ("no-map", r#"[{"expression": "object.data.key.inner == 2"}]"#),
    ("typed", r#"[{"expression": "object.data.key == 5"}]"#),
];

#[operetta_harness::test]
async fn policies_refuse_in_the_same_words() {
    play(
        nobody,
        |stage| {
            let mut objects = Vec::new();
            for (name, rules) in RULES {
                let rules: Value = serde_json::from_str(rules).unwrap();
                objects.push(policy(stage, name, json!({"validations": rules})));
                objects.push(binding(stage, name, json!({})));
            }
            objects.extend(ready(stage));
            objects
        },
        |stage| RULES.iter().map(|(name, _)| create(stage, name)).collect(),
    )
    .await;
}

#[operetta_harness::test]
async fn policies_have_variables_conditions_parameters_and_actions() {
    play(
        nobody,
        |stage| {
            let deny = |message: &str| json!([{"expression": "false", "message": message}]);
            let named = |name: &str, rest: Value| policy(stage, name, rest);
            let kind = |kind: &str| json!({"apiVersion": "v1", "kind": kind});
            let params = json!([{"expression": "object.data.key == params.data.wanted", "messageExpression": "'wanted ' + params.data.wanted"}]);
            let with_params = |name: &str, reference: Value| {
                [
                    policy(stage, name, json!({"paramKind": kind("ConfigMap"), "validations": params})),
                    binding(stage, name, json!({"paramRef": reference})),
                ]
            };
            let parameter = |name: &str, wanted: &str| {
                let mut object = config_map(name, json!({"wanted": wanted}));
                object["metadata"]["labels"] = json!({"kind": "parameter"});
                (stage.config_maps(), object)
            };
            let mut all = vec![parameter("one", "1"), parameter("two", "2"), parameter("fits", "value")];
            all.extend([
                named("variables", json!({
                    "variables": [
                        {"name": "key", "expression": "object.data.key"},
                        {"name": "long", "expression": "variables.key + '!'"},
                        {"name": "broken", "expression": "object.data.nothing"},
                    ],
                    "validations": [
                        {"expression": "variables.long == 'value!'"},
                        {"expression": "true || variables.broken == 'x'"},
                        {"expression": "variables.broken == 'x'"},
                    ],
                })),
                binding(stage, "variables", json!({})),
                named("unmet", json!({"matchConditions": [{"name": "c", "expression": "object.data.key == 'other'"}], "validations": deny("unmet")})),
                binding(stage, "unmet", json!({})),
                named("met", json!({"matchConditions": [{"name": "c", "expression": "object.data.key == 'value'"}], "validations": deny("met")})),
                binding(stage, "met", json!({})),
                named("failing", json!({"matchConditions": [{"name": "c", "expression": "object.data.nothing == 'value'"}, {"name": "d", "expression": "object.data.more == 'value'"}], "validations": deny("failing")})),
                binding(stage, "failing", json!({})),
                named("ignoring", json!({"failurePolicy": "Ignore", "matchConditions": [{"name": "c", "expression": "object.data.nothing == 'value'"}], "validations": deny("ignoring")})),
                binding(stage, "ignoring", json!({})),
                named("ignored", json!({"failurePolicy": "Ignore", "validations": [{"expression": "object.data.nothing == 'x'"}]})),
                binding(stage, "ignored", json!({})),
                named("warned", json!({"validations": deny("beware")})),
                binding(stage, "warned", json!({"validationActions": ["Warn", "Audit"]})),
                named("unbound", json!({"validations": deny("unbound")})),
                named("elsewhere", json!({"validations": deny("elsewhere")})),
                binding(stage, "elsewhere", json!({"matchResources": {"objectSelector": {"matchLabels": {"app": "x"}}, "namespaceSelector": {}}})),
                named("annotated", json!({"auditAnnotations": [{"key": "k", "valueExpression": "string(object.data.nothing)"}]})),
                binding(stage, "annotated", json!({})),
                named("no-kind", json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Nothing"}, "validations": deny("x")})),
                binding(stage, "no-kind", json!({"paramRef": {"name": "x", "parameterNotFoundAction": "Deny"}})),
                named("excluded", json!({"validations": deny("excluded"), "matchConstraints": {
                    "resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}],
                    "excludeResourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"], "resourceNames": ["excluded"]}],
                    "objectSelector": {"matchLabels": {"app": "excluded"}},
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": stage.namespace}},
                }})),
                binding(stage, "excluded", json!({})),
            ]);
            all.extend(with_params("by-name", json!({"name": "one", "parameterNotFoundAction": "Deny"})));
            all.extend(with_params("fitting", json!({"name": "fits", "parameterNotFoundAction": "Deny"})));
            all.extend(with_params("absent", json!({"name": "absent", "parameterNotFoundAction": "Deny"})));
            all.extend(with_params("allowed", json!({"name": "absent", "parameterNotFoundAction": "Allow"})));
            all.extend(with_params("selected", json!({"selector": {"matchLabels": {"kind": "parameter"}, "matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, "parameterNotFoundAction": "Deny", "namespace": "nowhere"})));
            all.extend(ready(stage));
            all
        },
        |stage| {
            let names = [
                "variables", "unmet", "met", "failing", "ignoring", "ignored", "warned", "unbound",
                "elsewhere", "annotated", "no-kind", "excluded", "by-name", "fitting", "absent",
                "allowed", "selected",
            ];
            let mut steps: Vec<_> = names.iter().map(|name| create(stage, name)).collect();
            steps.push(Step("DELETE", format!("{}/unmet", stage.config_maps()), JSON, Value::Null));
            steps
        },
    )
    .await;
}

/// Expressions that do not compile, at their places.
const WRONG: &[(&str, &str)] = &[
    ("validations", r#"[{"expression": "object.x"}]"#),
    ("validations", r#"[{"expression": "1 + 'a'"}]"#),
    ("validations", r#"[{"expression": "nothing == 1"}, {"expression": "params.x == 1"}]"#),
    ("validations", r#"[{"expression": "request.nothing == 1"}]"#),
    ("validations", r#"[{"expression": "true", "messageExpression": "1"}]"#),
    (
        "validations",
        r#"[{"expression": "true", "messageExpression": "authorizer.path('/').check('get').reason()"}]"#,
    ),
    ("validations", r#"[{"expression": "variables.none == 1"}]"#),
    ("validations", r#"[{"expression": "object.x == "}]"#),
    (
        "variables",
        r#"[{"name": "a", "expression": "1"}, {"name": "b", "expression": "variables.a + 'x'"}]"#,
    ),
    ("matchConditions", r#"[{"name": "a", "expression": "1"}]"#),
    ("matchConditions", r#"[{"name": "a", "expression": "variables.x == 1"}]"#),
    ("auditAnnotations", r#"[{"key": "a", "valueExpression": "1"}]"#),
];

#[operetta_harness::test]
async fn expressions_that_do_not_compile_are_refused_with_the_policy() {
    play(
        nobody,
        |_| Vec::new(),
        |stage| {
            let mut steps: Vec<_> = WRONG
                .iter()
                .enumerate()
                .map(|(at, (field, rules))| {
                    let rules: Value = serde_json::from_str(rules).unwrap();
                    let mut spec = json!({"validations": [{"expression": "true"}]});
                    spec[field] = rules;
                    let (path, policy) = policy(stage, &format!("wrong{at}"), spec);
                    Step("POST", format!("{path}?dryRun=All"), JSON, policy)
                })
                .collect();
            let webhook = stage.webhook(
                "/x",
                json!({"matchConditions": [{"name": "a", "expression": "object.x"}]}),
            );
            let (path, object) =
                stage.configuration("ValidatingWebhookConfiguration", "w", &[webhook]);
            steps.push(Step("POST", format!("{path}?dryRun=All"), JSON, object));
            steps
        },
    )
    .await;
}

fn allow(_: &str, review: &Value) -> Option<(u16, &'static str, String)> {
    let response = json!({"uid": review["request"]["uid"], "allowed": false});
    let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Some((200, JSON, answer.to_string()))
}

#[operetta_harness::test]
async fn webhooks_are_asked_where_their_conditions_hold() {
    play(
        allow,
        |stage| {
            let webhook = |name: &str, rest: Value, conditions: Value| {
                let mut rest = rest;
                rest["objectSelector"] = json!({"matchLabels": {"app": name}});
                rest["matchConditions"] = conditions;
                stage.webhook(&format!("/{name}"), rest)
            };
            let fails = json!({"name": "fails", "expression": "object.data.nothing == 'x'"});
            let holds = json!({"name": "holds", "expression": "object.data.key == 'value'"});
            let not = json!({"name": "not", "expression": "object.data.key != 'value'"});
            let ignore = json!({"failurePolicy": "Ignore"});
            vec![stage.configuration(
                "ValidatingWebhookConfiguration",
                "v",
                &[
                    webhook("holds", json!({}), json!([holds])),
                    webhook("not", json!({}), json!([holds, not])),
                    webhook("fails", json!({}), json!([holds, fails])),
                    webhook("decided", json!({}), json!([fails, not])),
                    webhook("ignored", ignore, json!([fails])),
                ],
            )]
        },
        |stage| {
            ["holds", "not", "fails", "decided", "ignored"]
                .iter()
                .map(|name| create(stage, name))
                .collect()
        },
    )
    .await;
}
