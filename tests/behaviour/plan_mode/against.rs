//! Plans for the parents of a file: what the API server says of them.

use k8s_openapi::api::core::v1::ConfigMap;

use super::*;
use crate::{
    cluster::connector_to,
    world::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, DATABASE},
};

const RBAC: &str = "rbac.authorization.k8s.io";
/// The user of the operators. No other test has it, as its permissions stay on a shared server.
const ACCOUNT: &str = "planner";

/// Parents of a database's type, whose image has a default, and a child that shows the image.
fn showing_images(builder: SupervisorBuilder) -> SupervisorBuilder {
    let sync = |request: &SyncRequest| -> Result<SyncResponse> {
        let spec = request.parent.field("spec").unwrap_or_default();
        Ok(SyncResponse::new().child(config_map("shown", json!({"image": spec["image"]}))))
    };
    let parent = K8sType::namespaced(DATABASE.0, DATABASE.1, DATABASE.2);
    let config = OperatorConfig::new("images", parent);
    builder.plan_only().register(config.child::<ConfigMap>(ChildConfig::apply()), sync)
}

fn database(world: &World, name: &str, spec: Value) -> Value {
    let metadata = json!({"name": name, "namespace": world.namespace});
    json!({"apiVersion": DATABASE.0, "kind": DATABASE.1, "metadata": metadata, "spec": spec})
}

#[operetta_harness::test(server)]
async fn a_plan_for_a_file_has_the_defaults_and_the_refusals_of_the_server() {
    let world = World::that_logs_requests().await;
    let small = json!({"version": {"major": 17, "minor": 7}, "storage": {"size": "1Gi"}});
    let mut live = database(&world, "live", small.clone());
    live["spec"]["image"] = json!("mirror/postgres");
    world.create(DATABASE, live).await;
    let mut large = small.clone();
    large["storage"]["size"] = json!("2Gi");
    world.create(DATABASE, database(&world, "shrunk", large)).await;
    let operators = world.start(showing_images).await;
    let (mut misspelt, mut unknown) = (small.clone(), small.clone());
    misspelt["deletionPolicy"] = json!("Retian");
    unknown["sise"] = json!(1);
    let documents = [
        database(&world, "live", small.clone()),
        database(&world, "misspelt", misspelt),
        database(&world, "new", small.clone()),
        database(&world, "shrunk", small),
        database(&world, "unknown", unknown),
    ];
    let plans = operators.running().plans_against(&PlanFilter::default(), &documents).await;
    let plans = plans.unwrap();
    let text = plans.to_string();
    // The image of the live one is the default again.
    assert_eq!(text.matches("image: postgres\n").count(), 2, "{text}");
    assert!(text.ends_with("# 2 of 5 parents would be changed\n"), "{text}");
    let problems: Vec<String> = plans.problems().collect();
    let expected = [
        ("misspelt", "spec.deletionPolicy: Unsupported value"),
        ("shrunk", "a volume cannot shrink"),
        ("unknown", "\"spec.sise\""),
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, (name, why)) in problems.iter().zip(expected) {
        let begin = format!("images {}/{name}: the API server would refuse it: ", world.namespace);
        assert!(problem.starts_with(&begin) && problem.contains(why), "{problem}");
    }
    let databases = world.list(DATABASE).await;
    assert_eq!(databases.len(), 2, "nothing is created");
    assert_eq!(databases[0]["spec"]["image"], "mirror/postgres", "nothing is changed");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_plan_for_a_file_says_why_the_server_did_not_check_it() {
    let (world, user) = World::that_enforces_rbac(ACCOUNT).await;
    let reads = json!([
        {"apiGroups": ["example.operetta.dev"], "resources": ["databases"],
            "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]},
    ]);
    let binding = json!({
        "metadata": {"name": ACCOUNT},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": ACCOUNT},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": ACCOUNT}],
    });
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": ACCOUNT}, "rules": reads})).await;
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
    let operators = world.start_over(connector_to(user), showing_images).await;
    let spec = json!({"version": {"major": 17, "minor": 7}, "storage": {"size": "1Gi"}, "image": "mirror/postgres"});
    let documents = [database(&world, "new", spec)];
    let plans = operators.running().plans_against(&PlanFilter::default(), &documents).await;
    let plans = plans.unwrap();
    let text = plans.to_string();
    assert!(plans.has_changes() && plans.problems().count() == 0, "{text}");
    assert!(text.contains("# not checked by the API server: 403 Forbidden: "), "{text}");
    assert!(text.contains("cannot create resource \"databases\""), "{text}");
    assert!(text.contains("image: mirror/postgres\n"), "{text}");
    operators.stop().await;
}
