//! Scenarios: given an object, when it changes, eventually another is right.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Secret},
};
use operetta::{prelude::*, testkit::TestCluster};
use serde_json::json;

use super::support::{config, config_map, served, sync};

#[tokio::test]
async fn a_scenario_of_typed_objects() -> Result<()> {
    let cluster = TestCluster::start();
    let _operators = cluster.run(|builder| builder.register(config(), sync)).await?;
    let parent = cluster.given(config_map("a", "soup")).await?;
    assert!(parent.metadata.uid.is_some());
    assert_eq!(served(cluster.get("a").await?), "soup");
    cluster
        .when("a", |parent: &mut ConfigMap| {
            parent.data = Some([("meal".to_owned(), "cake".to_owned())].into());
        })
        .await?;
    assert_eq!(served(cluster.get("a").await?), "cake");
    cluster.when_deleted::<Secret>("a").await?;
    let again = cluster.eventually("a", |secret: &Secret| secret.data.is_some()).await;
    assert_eq!(served(Some(again)), "cake");
    cluster.when_deleted::<ConfigMap>("a").await?;
    cluster.of::<Secret>().eventually_gone("a").await;
    Ok(())
}

#[tokio::test]
async fn a_scenario_of_objects_as_json() -> Result<()> {
    let cluster = TestCluster::start();
    let _operators = cluster.run(|builder| builder.register(config(), sync)).await?;
    let (parents, children) =
        (cluster.of_type(&K8sType::of::<ConfigMap>()), cluster.of_type(&K8sType::of::<Secret>()));
    let parent = json!({"metadata": {"name": "a"}, "data": {"meal": "soup"}});
    assert_eq!(parents.given(parent).await?["data"]["meal"], "soup");
    parents.when("a", |parent| parent["data"]["meal"] = json!("cake")).await?;
    let child = children.get("default/a").await?.unwrap_or_default();
    assert_eq!(child["data"]["meal"], "Y2FrZQ==");
    assert_eq!(parents.get("elsewhere/a").await?, None);
    Ok(())
}

#[tokio::test]
async fn a_change_of_the_status_is_sent_to_the_status() -> Result<()> {
    let cluster = TestCluster::start();
    let selector = json!({"matchLabels": {"app": "a"}});
    let template = json!({
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "a", "image": "a"}]},
    });
    let deployment =
        json!({"metadata": {"name": "a"}, "spec": {"selector": selector, "template": template}});
    cluster.given(serde_json::from_value::<Deployment>(deployment)?).await?;
    cluster
        .when("a", |deployment: &mut Deployment| {
            deployment.spec.replicas = Some(3);
            deployment.status.get_or_insert_default().replicas = Some(2);
        })
        .await?;
    let deployment = cluster.get::<Deployment>("a").await?.unwrap();
    assert_eq!(deployment.spec.replicas, Some(3));
    assert_eq!(deployment.status.and_then(|status| status.replicas), Some(2));
    Ok(())
}

#[tokio::test]
async fn an_object_can_be_in_another_namespace_or_in_none() -> Result<()> {
    let cluster = TestCluster::start();
    let _operators = cluster.run(|builder| builder.register(config(), sync)).await?;
    let namespace = json!({"metadata": {"name": "kitchen"}});
    cluster.given(serde_json::from_value::<Namespace>(namespace)?).await?;
    assert!(cluster.get::<Namespace>("kitchen").await?.is_some());
    let mut parent = config_map("a", "soup");
    parent.metadata.namespace = Some("kitchen".to_owned());
    cluster.given(parent).await?;
    assert_eq!(served(cluster.get("kitchen/a").await?), "soup");
    let missing = cluster.when("b", |_: &mut ConfigMap| {}).await.unwrap_err();
    assert!(missing.to_string().contains("not found"), "{missing}");
    Ok(())
}
