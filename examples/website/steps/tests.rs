//! What the operator does, without a cluster.

use std::fs;

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentStatus},
    batch::v1::Job,
    core::v1::{ConfigMap, Service},
};
use operetta::testkit::TestCluster;
use serde_json::{Value, json};

use super::*;

// ANCHOR: given
/// With an empty zone of its own, and a server of themes that nobody reaches.
fn websites(test: &str) -> Result<Websites> {
    let zone = std::env::temp_dir().join(format!("website-{}-{test}", std::process::id()));
    fs::create_dir_all(&zone)?;
    Ok(Websites { zone, themes: "http://127.0.0.1:1".to_owned() })
}

fn hello() -> Website {
    let spec = WebsiteSpec {
        html: "<h1>Hello</h1>".to_owned(),
        content_from: None,
        theme: None,
        replicas: 1,
    };
    Website::new("hello", spec)
}
// ANCHOR_END: given

// ANCHOR: function
#[tokio::test]
async fn a_website_without_replicas_has_no_address() -> Result<()> {
    let website = json!({
        "metadata": {"name": "hello"},
        "spec": {"html": "<h1>Hello</h1>", "replicas": 0},
    });
    let request = SyncRequest::example(&K8sType::of::<Website>(), website)?;
    // Of a preview, so that the handler changes nothing in the zone.
    let request = request.as_preview(true).typed::<Website>()?;
    let response = websites("function")?.sync(request).await?;
    let kinds: Vec<_> = response.children.iter().map(|it| it.object["kind"].as_str()).collect();
    assert_eq!(kinds, [Some("Secret"), Some("Job")]);
    Ok(())
}
// ANCHOR_END: function

// ANCHOR: cluster
#[tokio::test]
async fn the_address_comes_last_and_the_name_goes_with_the_website() -> Result<()> {
    let websites = websites("cluster")?;
    let entry = websites.zone.join("hello.default");
    let cluster = TestCluster::start();
    let _operators = cluster.run(|supervisor| supervisor.register(config(), websites)).await?;

    cluster.given(hello()).await?;
    assert_eq!(fs::read_to_string(&entry)?, "hello\n");
    assert!(cluster.get::<Deployment>("hello").await?.is_none(), "the page is not checked");

    cluster.of_type(&K8sType::of::<Job>()).when("hello-check", complete).await?;
    assert!(cluster.get::<ConfigMap>("hello").await?.is_some());
    assert!(cluster.get::<Service>("hello").await?.is_none(), "no Pod is ready");

    cluster.when("hello", available).await?;
    assert!(cluster.get::<Service>("hello").await?.is_some());

    cluster.when_deleted::<Website>("hello").await?;
    assert!(!entry.exists());
    Ok(())
}

/// As the controller of Jobs does it.
fn complete(job: &mut Value) {
    let condition = |ty: &str| json!({"type": ty, "status": "True"});
    job["status"] = json!({
        "startTime": "2026-01-01T00:00:00Z",
        "completionTime": "2026-01-01T00:00:05Z",
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    });
}

/// As the controller of Deployments does it.
fn available(deployment: &mut Deployment) {
    deployment.status = Some(DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: Some(1),
        updated_replicas: Some(1),
        ready_replicas: Some(1),
        available_replicas: Some(1),
        ..DeploymentStatus::default()
    });
}
// ANCHOR_END: cluster

// ANCHOR: clock
#[tokio::test]
async fn a_check_that_takes_too_long_is_reported() -> Result<()> {
    let cluster = TestCluster::start();
    let websites = websites("clock")?;
    let (_operators, clock) =
        cluster.run_with_clock(|supervisor| supervisor.register(config(), websites)).await?;

    cluster.given(hello()).await?;
    let is_stalled = async || -> Result<bool> {
        let website = cluster.get::<Website>("hello").await?.unwrap_or_else(hello);
        Ok(website.status.unwrap_or_default().conditions.is_true("Stalled"))
    };
    clock.advance(Duration::from_mins(4)).await;
    assert!(!is_stalled().await?);
    clock.advance(Duration::from_mins(2)).await;
    assert!(is_stalled().await?);
    Ok(())
}
// ANCHOR_END: clock
