//! What the API server refuses.

use futures::FutureExt;
use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::{
    cause::{Cause, End, Parent, Step, commanded, edited},
    handler::{self, DOTTED, LONG},
    rig::Place,
    workloads,
};
use crate::{
    recipe::{RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Kind, World},
};

const POLICY: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
);
const BINDING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
);
const WEBHOOKS: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
);
/// The policy of the benchmark, and its webhook.
const NO_SALT: &str = "no-salt.stuck.operetta.dev";
const HOOK: &str = "taster.stuck.operetta.dev";

/// Removes what has no namespace.
pub(super) async fn clear(world: &World) {
    for (kind, name) in [(BINDING, NO_SALT), (POLICY, NO_SALT), (WEBHOOKS, HOOK)] {
        let _ = world.api_in(kind, None).delete(name, &DeleteParams::default()).await;
    }
}

/// A cause that another name of the parent cures.
const fn renamed(
    from: &'static str,
    to: &'static str,
    name: &'static str,
    names: &'static [&'static str],
    plant: Step,
) -> Cause {
    let parent = Parent { operator: handler::NAME, kind: RECIPE, name: from };
    Cause { parent, end: End::Ready(to), ..commanded(name, names, plant) }
}

fn service(port: i64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": port}]},
    })
}

pub(super) fn secret(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": data})
}

pub(super) fn all() -> Vec<Cause> {
    [names(), admission(), fields()].into_iter().flatten().collect()
}

fn names() -> Vec<Cause> {
    vec![
        edited(
            "A value outside of its range",
            &["Service", "/s", "spec.ports[0].port"],
            "s/port: 0/port: 80/",
            |place| async { place.parent(&[service(0)]).await }.boxed_local(),
        ),
        edited(
            "A name of a child that is not allowed",
            &["ConfigMap", "metadata.name"],
            "s/name: Upper/name: lower/",
            |place| async { place.parent(&[config_map("Upper", json!({}))]).await }.boxed_local(),
        ),
        renamed(
            DOTTED,
            "shopexample",
            "A name of the parent that does not fit a child",
            &["Service", DOTTED, "metadata.name"],
            |place| {
                async { drop(place.create(RECIPE, acting(DOTTED, "named")).await) }.boxed_local()
            },
        ),
        renamed(
            LONG,
            &LONG[..30],
            "A name of the parent that is too long for a child",
            &["Service", LONG, "metadata.name"],
            |place| async { drop(place.create(RECIPE, acting(LONG, "named")).await) }.boxed_local(),
        ),
        edited(
            "A label that is too long",
            &["ConfigMap", "/c", "metadata.labels"],
            "s/app: x+/app: x/",
            |place| {
                async {
                    let mut child = config_map("c", json!({}));
                    child["metadata"]["labels"] = json!({"app": "x".repeat(64)});
                    place.parent(&[child]).await;
                }
                .boxed_local()
            },
        ),
    ]
}

fn admission() -> Vec<Cause> {
    vec![edited(
        "An admission policy",
        &["ConfigMap", "/c", NO_SALT],
        "s/salt: much/salt: little/",
        |place| {
            async {
                let rule = json!({
                    "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                    "operations": ["CREATE", "UPDATE"],
                });
                let here = json!({"matchLabels": {"kubernetes.io/metadata.name": place.namespace}});
                let spec = json!({
                    "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
                    "validations": [{
                        "expression": "!has(object.data) || !('salt' in object.data) || object.data.salt != 'much'",
                        "message": "too much salt",
                    }],
                });
                place.create(POLICY, json!({"metadata": {"name": NO_SALT}, "spec": spec})).await;
                let spec = json!({"policyName": NO_SALT, "validationActions": ["Deny"]});
                place.create(BINDING, json!({"metadata": {"name": NO_SALT}, "spec": spec})).await;
                until_enforced(place).await;
                place.parent(&[config_map("c", json!({"salt": "much"}))]).await;
            }
            .boxed_local()
        },
    )]
}

fn fields() -> Vec<Cause> {
    vec![
        commanded("A field that cannot be changed", &["Secret", "/s", "data"], |place| {
            async {
                let frozen = |value: &str| {
                    let mut secret = secret(json!({"a": value}));
                    secret["immutable"] = json!(true);
                    secret
                };
                place.parent(&[frozen("b")]).await;
                place.until_ready("r").await;
                place.patch(RECIPE, "r", json!({"spec": {"children": [frozen("c")]}})).await;
            }
            .boxed_local()
        }),
        commanded(
            "A selector that cannot be changed",
            &["Deployment", "/d", "spec.selector"],
            |place| {
                async {
                    place.parent(&[workloads::deployment(0, "a")]).await;
                    workloads::observed(place, "a").await;
                    place.until_ready("r").await;
                    let changed = json!({"spec": {"children": [workloads::deployment(0, "b")]}});
                    place.patch(RECIPE, "r", changed).await;
                }
                .boxed_local()
            },
        )
        .then(|place| workloads::observed(place, "b").boxed_local()),
        edited(
            "A status that the schema refuses",
            &["Recipe", "/r", "status.taste"],
            "s/taste: 7/taste: fine/",
            |place| {
                async {
                    let mut parent = recipe("r", &[]);
                    parent["spec"]["status"] = json!({"taste": 7});
                    place.create(RECIPE, parent).await;
                }
                .boxed_local()
            },
        ),
        edited(
            "An object that is too large",
            &["Recipe", "/r", "ConfigMap", "large", "bytes"],
            "s/act: large/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "large")).await) }.boxed_local(),
        ),
        commanded("A webhook that does not answer", &["ConfigMap", "/c", HOOK], |place| {
            async {
                let rule = json!({
                    "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                    "operations": ["CREATE", "UPDATE"],
                });
                let here = json!({"matchLabels": {"kubernetes.io/metadata.name": place.namespace}});
                let hook = json!({
                    "name": HOOK, "clientConfig": {"url": "https://127.0.0.1:1/"}, "rules": [rule],
                    "namespaceSelector": here, "failurePolicy": "Fail", "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                });
                let body = json!({"metadata": {"name": HOOK}, "webhooks": [hook]});
                place.create(WEBHOOKS, body).await;
                until_enforced(place).await;
                place.parent(&[config_map("c", json!({}))]).await;
            }
            .boxed_local()
        }),
    ]
}

/// Waits until the policy or the webhook denies: it takes effect some time after its creation.
async fn until_enforced(place: &Place<'_>) {
    let probe = || async {
        let probe = crate::world::object(CONFIG_MAP, config_map("probe", json!({"salt": "much"})));
        let params = kube::api::PostParams { dry_run: true, ..<_>::default() };
        place.api(CONFIG_MAP).create(&params, &probe).await.is_err()
    };
    crate::world::eventually("a policy that denies", probe, |denies| *denies).await;
}
