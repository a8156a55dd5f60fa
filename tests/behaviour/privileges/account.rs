//! The account of the operators, with its generated roles or less, and how the operators connect as it.

use k8s_openapi::api::{authentication::v1::TokenRequest, core::v1::ServiceAccount};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    client::ClientBuilder,
    config::AuthInfo,
    core::GroupVersionKind,
};
use operators::NAMESPACE;
use operetta_apiserver::faults::{Fault, FaultLayer, FaultPlan, Rule};
use serde_json::{Value, json};

use super::{
    answers::Answers,
    grant::{self, Grant},
};
use crate::{
    cluster::{Cluster, Connector},
    world::{CLUSTER_ROLE_BINDING, Kind, NAMESPACE as NAMESPACE_KIND, World, eventually, object},
};

const NAME: &str = "operetta";
const RBAC: &str = "rbac.authorization.k8s.io";
const REVIEW: Kind = Kind("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews");
const SERVICE_ACCOUNT: Kind = Kind("v1", "ServiceAccount", "serviceaccounts");

/// Types of children. Somebody else is faster than the first write of each, so that it is read live.
const CHILDREN: [&str; 12] = [
    "configmaps",
    "cronjobs",
    "horizontalpodautoscalers",
    "jobs",
    "namespaces",
    "networkpolicies",
    "persistentvolumeclaims",
    "poddisruptionbudgets",
    "pods",
    "secrets",
    "services",
    "statefulsets",
];
/// The same for what is written of parents.
const OF_PARENTS: [&str; 5] = [
    "databases/status",
    "deployments",
    "echoservers/status",
    "propagations/status",
    "tempnamespaces/status",
];

/// Grants the account all that is generated, but these.
pub(super) async fn grant_without(world: &World, removed: &[Grant]) {
    world.apply(NAMESPACE_KIND, json!({"metadata": {"name": NAMESPACE}})).await;
    for manifest in grant::manifests_without(removed) {
        apply(world, manifest).await;
    }
    until_in_force(world, removed).await;
}

pub(super) async fn apply(world: &World, manifest: Value) {
    let object: DynamicObject = serde_json::from_value(manifest).unwrap();
    let kind = GroupVersionKind::try_from(object.types.as_ref().unwrap()).unwrap();
    let (client, ty) = (world.client.clone(), ApiResource::from_gvk(&kind));
    let api: Api<DynamicObject> = match &object.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &ty),
        None => Api::all_with(client, &ty),
    };
    let (name, params) =
        (object.metadata.name.clone().unwrap(), PatchParams::apply("test").force());
    api.patch(&name, &params, &Patch::Apply(object)).await.unwrap();
}

/// The real server learns of a changed role a little later; the embedded one does not.
async fn until_in_force(world: &World, removed: &[Grant]) {
    if matches!(world.cluster, Cluster::Embedded(..)) {
        return;
    }
    for grant in grant::rules().concat() {
        let expected = !removed.contains(&grant);
        let ask = || is_granted(world, &grant);
        eventually(&format!("the permission {grant}"), ask, |granted| *granted == expected).await;
    }
}

async fn is_granted(world: &World, grant: &Grant) -> bool {
    let review = json!({"metadata": {}, "spec": {
        "user": format!("system:serviceaccount:{NAMESPACE}:{NAME}"),
        "resourceAttributes": grant.attributes(NAMESPACE),
    }});
    let reviews = world.api_in(REVIEW, None);
    let review = reviews.create(&PostParams::default(), &object(REVIEW, review)).await.unwrap();
    review.data["status"]["allowed"] == true
}

/// A token of an account.
async fn token(world: &World, namespace: &str, name: &str) -> String {
    let accounts: Api<ServiceAccount> = Api::namespaced(world.client.clone(), namespace);
    let (params, request) = (PostParams::default(), TokenRequest::default());
    let answer = accounts.create_token_request(name, &params, &request).await;
    answer.unwrap().status.unwrap().token.unwrap()
}

/// The token of a new user of the endpoint, who has this cluster role.
pub(super) async fn user(world: &World, name: &str, role: &str) -> String {
    world.apply(SERVICE_ACCOUNT, json!({"metadata": {"name": name}})).await;
    let subject = json!({"kind": "ServiceAccount", "name": name, "namespace": world.namespace});
    let binding = json!({
        "metadata": {"name": format!("{}-{name}", world.namespace)},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [subject],
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
    token(world, &world.namespace, name).await
}

/// A connection as the account. Answers are recorded, and first writes lose against others.
pub(super) async fn connector(world: &World, answers: &Answers) -> Connector {
    let token = Some(token(world, NAMESPACE, NAME).await.into());
    let mut config = world.cluster.kube_config();
    config.default_retry = false;
    NAMESPACE.clone_into(&mut config.default_namespace);
    config.auth_info = AuthInfo { token, ..AuthInfo::default() };
    let (answers, faults) = (answers.clone(), FaultLayer::new(&lost_races()));
    Box::new(move || {
        Box::pin(async move {
            let builder = ClientBuilder::try_from(config)?.with_layer(&answers);
            Ok(builder.with_layer(&faults).build().into())
        })
    })
}

fn lost_races() -> FaultPlan {
    let plan = FaultPlan::new();
    for resource in CHILDREN.into_iter().chain(OF_PARENTS) {
        plan.add(Rule::new(Fault::refuse(409)).verb("patch").resource(resource).times(1));
    }
    plan
}
