//! What a replica may do.

use operetta::prelude::*;

use super::*;

/// Lets a user do what a replica needs, by the names of its objects.
async fn grant(world: &World, user: &str, program: &str) {
    let secret = format!("{program}-webhook-certificates");
    let rules = json!([
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [secret],
            "verbs": ["get", "watch", "update"]},
        {"apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingwebhookconfigurations"], "resourceNames": [program],
            "verbs": ["get", "watch", "patch"]},
    ]);
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": program}, "rules": rules})).await;
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": program},
        "subjects": [{"kind": "User", "name": user, "apiGroup": group}],
        "roleRef": {"kind": "ClusterRole", "name": program, "apiGroup": group},
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
}

#[operetta_harness::test(server)]
async fn permissions_by_name_are_enough_and_without_them_the_start_says_which() {
    let (world, config) = World::that_enforces_rbac(REPLICA).await;
    let program = format!("granted-{}", world.namespace);
    let builder = || {
        let config = config.clone();
        let connected = Supervisor::builder().connect(move || async { Ok(config) });
        replica(&program, LONG)(connected.serve("127.0.0.1:0"))
    };
    let refused = builder().start().await.unwrap_err().to_string();
    assert!(refused.contains("grant get, watch, create and update of secrets"), "{refused}");

    grant(&world, REPLICA, &program).await;
    let started = || async { builder().start().await.ok() };
    let running = eventually("a start", started, Option::is_some).await.unwrap();
    let second = builder().start().await.unwrap();
    let replicas = [Operators::new(running), Operators::new(second)];
    let sharing = Sharing { world, replicas, program: program.clone() };
    sharing.configure().await;
    sharing.until_trusted().await;
    for replica in &sharing.replicas {
        let (_, metrics) = replica.http("/metrics").await;
        let refused: Vec<_> = metrics.lines().filter(|it| it.contains("code=\"403\"")).collect();
        assert!(refused.is_empty(), "{refused:#?}");
        assert!(metrics.contains("webhook_certificate_expiry_timestamp_seconds"), "{metrics}");
    }
    sharing.world.delete(CLUSTER_ROLE_BINDING, &program).await;
    sharing.world.delete(CLUSTER_ROLE, &program).await;
    sharing.stop().await;
}
