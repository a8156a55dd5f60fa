//! Changes of a database that runs.

use std::collections::BTreeMap;

use super::*;

fn is_of(pod: &Value, version: &str) -> bool {
    pod["spec"]["containers"][0]["image"] == format!("postgres:{version}")
}

#[operetta_harness::test]
async fn a_new_version_is_rolled_out_one_pod_at_a_time_and_the_primary_last() {
    let tenant = Tenant::start().await;
    tenant.create(highly_available()).await;
    let (version, before) = (tenant.version(POD).await, tenant.uids(CLAIM).await);
    let pods = tenant.world.list(POD).await.into_iter();
    let mut now: BTreeMap<String, Value> =
        pods.map(|pod| (pod["metadata"]["name"].as_str().unwrap().to_owned(), pod)).collect();
    tenant.change(json!({"version": {"major": 17, "minor": 7}})).await;
    let is_new = |pod: &Seen| is_of(&pod.object, "17.7") && holds(&pod.object, "Ready");
    let is_last = |pod: &Seen| pod.name == "main-0" && is_new(pod);
    let mut updated = Vec::new();
    for pod in tenant.events(POD, &version, is_last).await {
        if is_new(&pod) && !updated.contains(&pod.name) {
            updated.push(pod.name.clone());
        }
        if pod.is_gone {
            now.remove(&pod.name);
        } else {
            now.insert(pod.name, pod.object);
        }
        let are_ready = now.values().filter(|pod| holds(pod, "Ready")).count();
        assert!(are_ready >= 2, "{now:#?}");
    }
    assert_eq!(updated, ["main-2", "main-1", "main-0"]);
    assert_eq!(tenant.uids(CLAIM).await, before);
    tenant.operators.stop().await;
}

#[operetta_harness::test(server)]
async fn growing_volumes_keep_their_pods_and_their_data() {
    let tenant = Tenant::start().await;
    tenant.create(highly_available()).await;
    let set = tenant.world.get(STATEFUL_SET, "main").await;
    let size = |claim: &Value| claim["spec"]["resources"]["requests"]["storage"].clone();
    let (pods, claims) = (tenant.uids(POD).await, tenant.uids(CLAIM).await);
    tenant.change(json!({"storage": {"size": "20Gi"}})).await;
    let new_set = tenant.world.get(STATEFUL_SET, "main").await;
    assert_ne!(new_set["metadata"]["uid"], set["metadata"]["uid"], "its templates are immutable");
    let template = &new_set["spec"]["volumeClaimTemplates"][0];
    assert_eq!(template["spec"]["resources"]["requests"]["storage"], "20Gi");
    assert_eq!((tenant.uids(POD).await, tenant.uids(CLAIM).await), (pods, claims));
    for (name, _) in tenant.uids(CLAIM).await {
        // Kubernetes lets a claim grow once it is bound.
        tenant.world.until(CLAIM, &name, "its growth", |claim| size(claim) == "20Gi").await;
    }
    let is_adopted =
        |pod: &Value| pod["metadata"]["ownerReferences"][0]["uid"] == new_set["metadata"]["uid"];
    for name in ["main-0", "main-1", "main-2"] {
        tenant.world.until(POD, name, "the new set as its owner", is_adopted).await;
    }
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn leaving_high_availability_keeps_the_primary_and_all_claims() {
    let tenant = Tenant::start().await;
    tenant.create(highly_available()).await;
    let (pods, claims) = (tenant.uids(POD).await, tenant.uids(CLAIM).await);
    let parent = tenant.change(json!({"replicas": 1})).await;
    assert_eq!(parent["status"]["readyReplicas"], 1);
    for name in ["main-1", "main-2"] {
        tenant.world.until(POD, name, "its end", Value::is_null).await;
    }
    tenant.world.until(SERVICE, "main-read", "its end", Value::is_null).await;
    assert_eq!(tenant.uids(POD).await, pods[..1], "the primary went on");
    assert_eq!(tenant.uids(CLAIM).await, claims);
    assert!(
        tenant
            .world
            .list(CLAIM)
            .await
            .iter()
            .all(|it| it["metadata"]["deletionTimestamp"].is_null())
    );
    tenant.change(json!({"replicas": 3})).await;
    assert_eq!(tenant.uids(POD).await[0], pods[0]);
    assert_eq!(tenant.uids(CLAIM).await, claims, "they are used again");
    tenant.operators.stop().await;
}

#[operetta_harness::test(server)]
async fn the_scale_subresource_changes_the_replicas_within_the_rules() {
    let tenant = Tenant::start().await;
    tenant.create(highly_available()).await;
    let api = tenant.world.api(DATABASE);
    let scale = async |replicas: i32| {
        let patch = kube::api::Patch::Merge(json!({"spec": {"replicas": replicas}}));
        api.patch_scale("main", &<_>::default(), &patch).await
    };
    scale(4).await.unwrap();
    tenant.world.until(POD, "main-3", "another Pod", Value::is_object).await;
    assert_eq!(tenant.ready().await["status"]["readyReplicas"], 4);
    let refused = scale(2).await.unwrap_err().to_string();
    assert!(refused.contains("replicas must be 1, or at least 3"), "{refused}");
    tenant.operators.stop().await;
}
