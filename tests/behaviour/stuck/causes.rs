//! The causes. What the API server refuses, what others hold, and what the handler does.

use futures::FutureExt;
use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::{Cause, Place, handler::DOTTED, pods};
use crate::{
    recipe::{RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Kind, POD, SECRET, World},
};

const QUOTA: Kind = Kind("v1", "ResourceQuota", "resourcequotas");
const LIMITS: Kind = Kind("v1", "LimitRange", "limitranges");
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
/// The policy of the benchmark.
const NO_SALT: &str = "no-salt.stuck.operetta.dev";

pub(super) fn all() -> Vec<Cause> {
    [refused(), held(), handled(), pods::all()].into_iter().flatten().collect()
}

/// Removes what has no namespace.
pub(super) async fn clear(world: &World) {
    for kind in [BINDING, POLICY] {
        let _ = world.api_in(kind, None).delete(NO_SALT, &DeleteParams::default()).await;
    }
}

/// A cause of a parent named `r` that an edit of it cures.
pub(super) const fn edited(
    name: &'static str,
    names: &'static [&'static str],
    edit: &'static str,
    plant: for<'a> fn(&'a Place<'a>) -> futures::future::BoxFuture<'a, ()>,
) -> Cause {
    Cause { name, names, plant, edit, then: None, ready: "r" }
}

/// A cause that a command without an editor cures.
pub(super) const fn commanded(
    name: &'static str,
    names: &'static [&'static str],
    plant: for<'a> fn(&'a Place<'a>) -> futures::future::BoxFuture<'a, ()>,
) -> Cause {
    edited(name, names, "", plant)
}

fn service(port: i64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": port}]},
    })
}

fn secret(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": data})
}

// === what the API server refuses ===

fn refused() -> Vec<Cause> {
    vec![
        edited(
            "A value outside of its range",
            &["Service", "/s", "spec.ports[0].port"],
            "s/port: 0/port: 80/",
            |place| async { place.parent(&[service(0)]).await }.boxed(),
        ),
        edited(
            "A name of a child that is not allowed",
            &["ConfigMap", "metadata.name"],
            "s/name: Upper/name: lower/",
            |place| async { place.parent(&[config_map("Upper", json!({}))]).await }.boxed(),
        ),
        Cause {
            ready: "shopexample",
            ..commanded(
                "A name of the parent that does not fit a child",
                &["Service", DOTTED, "metadata.name"],
                |place| async { drop(place.create(RECIPE, acting(DOTTED, "named")).await) }.boxed(),
            )
        },
        commanded("An exhausted quota", &["Secret", "/s", "ResourceQuota small"], |place| {
            async {
                let spec = json!({"hard": {"count/secrets": "0"}});
                place.create(QUOTA, json!({"metadata": {"name": "small"}, "spec": spec})).await;
                let is_counted = |quota: &Value| quota["status"]["used"]["count/secrets"] == "0";
                place.until(QUOTA, "small", "a counted quota", is_counted).await;
                place.parent(&[secret(json!({"a": "b"}))]).await;
            }
            .boxed()
        }),
        Cause {
            then: Some(|place| pods::run(place, "p").boxed()),
            ..edited(
                "A limit range",
                &["Pod", "/p", "LimitRange"],
                "s/cpu: \"?1\"?$/cpu: \"4\"/",
                |place| {
                    async {
                        let limit = json!({"type": "Container", "max": {"cpu": "1"}});
                        let spec = json!({"limits": [limit]});
                        let limits = json!({"metadata": {"name": "cpu"}, "spec": spec});
                        place.create(LIMITS, limits).await;
                        place.parent(&[pods::pod(json!({"limits": {"cpu": "2"}}))]).await;
                    }
                    .boxed()
                },
            )
        },
        edited(
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
            .boxed()
            },
        ),
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
            .boxed()
        }),
        edited(
            "An object that is too large",
            &["Recipe", "/r", "ConfigMap", "large", "bytes"],
            "s/act: large/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "large")).await) }.boxed(),
        ),
    ]
}

/// Waits until the policy denies: it takes effect some time after its creation.
async fn until_enforced(place: &Place<'_>) {
    let probe = || async {
        let probe = crate::world::object(CONFIG_MAP, config_map("probe", json!({"salt": "much"})));
        let params = kube::api::PostParams { dry_run: true, ..<_>::default() };
        place.api(CONFIG_MAP).create(&params, &probe).await.is_err()
    };
    crate::world::eventually("a policy that denies", probe, |denies| *denies).await;
}

// === what others hold ===

fn held() -> Vec<Cause> {
    vec![
        commanded("A foreign object", &["ConfigMap", "/c", "somebody else"], |place| {
            async {
                place.create(CONFIG_MAP, config_map("c", json!({}))).await;
                place.parent(&[config_map("c", json!({"a": "b"}))]).await;
            }
            .boxed()
        }),
        commanded("Many foreign objects", &["ConfigMap", "/c", "2 more"], |place| {
            async {
                let names = ["c", "d", "e"];
                for name in names {
                    place.create(CONFIG_MAP, config_map(name, json!({}))).await;
                }
                place.parent(&names.map(|name| config_map(name, json!({"a": "b"})))).await;
            }
            .boxed()
        }),
        commanded("A field of another manager", &["Secret", "/s", ".data.a"], |place| {
            async {
                place.parent(&[secret(json!({"a": "b"}))]).await;
                place.until_ready("r").await;
                place.patch(SECRET, "s", json!({"data": {"a": "eA=="}})).await;
            }
            .boxed()
        }),
        commanded(
            "A finalizer of others on a child",
            &["Pod", "/p", "example.dev/keep"],
            |place| {
                async {
                    place.parent(&[pods::pod(json!({}))]).await;
                    pods::run(place, "p").await;
                    place.until_ready("r").await;
                    let finalizers = json!({"metadata": {"finalizers": ["example.dev/keep"]}});
                    place.patch(POD, "p", finalizers).await;
                    let changed = pods::pod(json!({"limits": {"cpu": "1"}}));
                    place.patch(RECIPE, "r", json!({"spec": {"children": [changed]}})).await;
                }
                .boxed()
            },
        )
        .then_running(),
        commanded("Deletions that are held", &["Recipe", "/r", "deletions"], |place| {
            async {
                let many: Vec<Value> =
                    (0..30).map(|number| config_map(&format!("c{number}"), json!({}))).collect();
                place.parent(&many).await;
                place.until_ready("r").await;
                place.patch(RECIPE, "r", json!({"spec": {"children": many[..1]}})).await;
            }
            .boxed()
        }),
        commanded("A pause", &["Recipe", "/r", "paused"], |place| {
            async {
                let mut parent = recipe("r", &[config_map("c", json!({}))]);
                parent["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"});
                place.create(RECIPE, parent).await;
            }
            .boxed()
        }),
    ]
}

impl Cause {
    /// Somebody runs the Pod `p` then.
    pub(super) fn then_running(self) -> Self {
        Self { then: Some(|place| pods::run(place, "p").boxed()), ..self }
    }
}

// === what the handler does ===

fn handled() -> Vec<Cause> {
    vec![
        edited(
            "A permanent error of the handler",
            &["Recipe", "/r", "no such dish"],
            "s/act: permanent/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "permanent")).await) }.boxed(),
        ),
        edited(
            "An error of the handler",
            &["Recipe", "/r", "the oven is cold"],
            "s/act: fail/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "fail")).await) }.boxed(),
        ),
        edited(
            "A panic of the handler",
            &["Recipe", "/r", "the kitchen burns", "recipe.rs:"],
            "s/act: panic/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "panic")).await) }.boxed(),
        ),
        edited(
            "An asynchronous handler that does not return",
            &["Recipe", "/r", "waits for its handler"],
            "s/act: hang/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "hang")).await) }.boxed(),
        ),
        edited(
            "A response that is no JSON",
            &["Recipe", "/r", "JSON"],
            "s/act: no-json/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "no-json")).await) }.boxed(),
        ),
        edited(
            "Too many children",
            &["Recipe", "/r", "10001 children"],
            "s/act: many/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "many")).await) }.boxed(),
        ),
        edited(
            "A child of a type that is not declared",
            &["Recipe", "/r", "Node"],
            "s/kind: Node/kind: ConfigMap/",
            |place| {
                async {
                    let node =
                        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
                    place.parent(&[node]).await;
                }
                .boxed()
            },
        ),
        edited(
            "A child that was read from the server",
            &["Recipe", "/r", "metadata.uid", "metadata.resourceVersion"],
            "/(uid|resourceVersion): .?copied/d",
            |place| {
                async {
                    let mut copied = config_map("c", json!({"a": "b"}));
                    copied["metadata"]["uid"] = json!("copied");
                    copied["metadata"]["resourceVersion"] = json!("copied");
                    place.parent(&[copied]).await;
                }
                .boxed()
            },
        ),
        edited(
            "The same child twice",
            &["Recipe", "/r", "ConfigMap", "twice"],
            "0,/name: d/s/name: d/name: e/",
            |place| {
                async {
                    let second = config_map("d", json!({"second": "true"}));
                    let third = config_map("d", json!({}));
                    place.parent(&[second, config_map("c", json!({})), third]).await;
                }
                .boxed()
            },
        ),
    ]
}
