//! Objects that cannot be migrated, and permissions that are missing: the old version stays, and the reason is shown.

use kube::{
    CustomResourceExt,
    api::{Patch, PatchParams},
    core::crd::merge_crds,
};
use operetta::manifests::{Account, Manifest, Permissions};
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;

/// The user of a process with few permissions.
const USER: &str = "replica";

#[operetta_harness::test(server)]
async fn an_object_that_cannot_be_converted_is_named_and_keeps_the_old_version_until_it_is_right() {
    let shop = Shop::with(&[("a", "1"), ("b", "many")]).await;
    shop.store("v1").await;
    let process = shop.world.start(shop.process()).await;
    let why = format!("Shelf {}/b cannot be converted", shop.world.namespace);
    let shown = until_shown(&process, "the reason", says(&why)).await;
    assert_eq!(shown["state"], "waiting");
    assert!(says("objects may be stored in v1alpha1, and are not migrated: ")(&shown), "{shown}");
    let (_, page) = process.http("/ui/operators/shelves").await;
    assert!(page.contains("spec.boards: it is no number"), "{page}");
    assert_eq!(shop.stored_versions().await, json!(["v1alpha1", "v1"]));
    shop.store("v1alpha1").await;
    let correct = || async {
        let patch = Patch::Merge(json!({"spec": {"boards": "2"}}));
        let old = shop.api::<v1alpha1::Shelf>();
        old.patch("b", &PatchParams::default(), &patch).await.is_ok()
    };
    // While the new version is stored, the API server can read it in no version.
    eventually("the correction", correct, |is_correct| *is_correct).await;
    shop.store("v1").await;
    shop.until_migrated().await;
    process.stop().await;
    shop.until_the_old_version_is_gone(&[1, 2]).await;
    shop.end().await;
}

/// As by a policy of others.
#[operetta_harness::test]
async fn an_object_that_cannot_be_written_is_named_and_the_others_are_written() {
    let shop = Shop::with(&[("a", "1"), ("b", "2"), ("c", "3")]).await;
    shop.store("v1").await;
    let plan = FaultPlan::new();
    let refused =
        plan.add(Rule::new(Fault::refuse(422)).verb("update").resource("shelves").name("b"));
    let connector = shop.world.cluster.connector_through(&plan);
    let process = shop.world.start_over(connector, shop.process()).await;
    let shown = until_shown(&process, "the reason", |shown| shown["state"] == "waiting").await;
    assert_eq!((&shown["done"], &shown["failed"]), (&json!(2), &json!(1)));
    let (failed, namespace) = (&shown["failures"][0], shop.world.namespace.as_str());
    assert_eq!(
        (failed["namespace"].as_str(), failed["name"].as_str()),
        (Some(namespace), Some("b"))
    );
    assert!(says("because 1 of its objects cannot be written")(&shown), "{shown}");
    assert_eq!(shop.stored_versions().await, json!(["v1alpha1", "v1"]));
    refused.end();
    shop.until_migrated().await;
    process.stop().await;
    shop.end().await;
}

#[operetta_harness::test]
async fn a_type_whose_crd_has_no_conversion_is_left_alone() {
    let shop = Shop::with(&[("a", "1")]).await;
    let mut crd = merge_crds(vec![v1::Shelf::crd(), v1alpha1::Shelf::crd()], "v1").unwrap();
    crd.spec.conversion = Some(serde_json::from_value(json!({"strategy": "None"})).unwrap());
    shop.world.apply(CRD, serde_json::to_value(crd).unwrap()).await;
    let process = shop.world.start(shop.process()).await;
    until_shown(&process, "the reason", says("has no conversion by a webhook")).await;
    assert_eq!(shop.stored_versions().await, json!(["v1alpha1", "v1"]));
    until_counted(&process, "written", 0).await;
    process.stop().await;
    shop.end().await;
}

/// Grants a user the rules of a cluster role.
async fn grant(world: &World, name: &str, rules: Value) {
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": name}, "rules": rules})).await;
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": name},
        "subjects": [{"kind": "User", "name": USER, "apiGroup": group}],
        "roleRef": {"kind": "ClusterRole", "name": name, "apiGroup": group},
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
}

fn rules(permissions: &Permissions, name: &str) -> Value {
    let manifests = permissions.manifests(&Account::new("shelves", "ns"));
    let role = manifests.iter().find_map(|manifest| match manifest {
        Manifest::ClusterRole(role) if role.metadata.name.as_deref() == Some(name) => Some(role),
        _ => None,
    });
    serde_json::to_value(&role.unwrap().rules).unwrap()
}

#[operetta_harness::test]
async fn a_missing_permission_is_named_and_those_of_the_manifests_are_enough() {
    let (world, user) = World::that_enforces_rbac(USER).await;
    let shop = Shop::on(world, &[("a", "1")]).await;
    shop.store("v1").await;
    let permissions = Permissions::of([&config()]).unwrap().with_migration([&versions()]);
    grant(&shop.world, "shelves", rules(&permissions, "shelves")).await;
    let connector = crate::cluster::connector_to(user);
    let process = shop.world.start_over(connector, shop.process()).await;
    let advice = ": grant get and watch of customresourcedefinitions";
    let shown = until_shown(&process, "the missing permission", says(advice)).await;
    assert!(says("the CRD shelves.migration.operetta.dev cannot be read")(&shown), "{shown}");

    let all = rules(&permissions, "shelves-migration");
    let crds =
        all.as_array().unwrap().iter().filter(|it| it["apiGroups"][0] != "migration.operetta.dev");
    grant(&shop.world, "shelves-migration", crds.cloned().collect()).await;
    let advice = ": grant list and update of shelves.migration.operetta.dev";
    until_shown(&process, "the next missing permission", says(advice)).await;
    grant(&shop.world, "shelves-migration", all).await;
    shop.until_migrated().await;
    until_shown(&process, "the end", |shown| shown["state"] == "complete").await;
    process.stop().await;
    for name in ["shelves", "shelves-migration"] {
        shop.world.delete(CLUSTER_ROLE_BINDING, name).await;
        shop.world.delete(CLUSTER_ROLE, name).await;
    }
    shop.end().await;
}
