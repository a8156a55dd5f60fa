//! What two versions change in the tests of the operator.

use std::fs;

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use operetta::{
    object::ObjectKey,
    operator::{Stores, admission::AdmissionRequest},
    testkit::{TestCluster, assert_round_trips},
};
use serde_json::json;

use super::*;

/// With an empty zone of its own, and a server of themes that nobody reaches.
fn websites(test: &str) -> Result<Websites> {
    let zone = std::env::temp_dir().join(format!("website-{}-{test}", std::process::id()));
    fs::create_dir_all(&zone)?;
    Ok(Websites { zone, themes: "http://127.0.0.1:1".to_owned() })
}

fn hello() -> Website {
    let spec = v2::WebsiteSpec {
        page: page::Page { html: "<h1>Hello</h1>".to_owned(), from: None },
        host: None,
        theme: None,
        replicas: 1,
    };
    Website::new("hello", spec)
}

fn with_host(name: &str) -> Website {
    let mut website = hello();
    website.metadata.name = Some(name.to_owned());
    website.spec.host = Some("hello.example.dev".to_owned());
    website
}

// ANCHOR: round_trips
#[test]
fn no_version_loses_what_the_other_one_has() {
    assert_round_trips::<v2::Website, v1::Website>(&versions(), 1000);
}
// ANCHOR_END: round_trips

#[test]
fn a_host_has_one_website() -> Result<()> {
    let stores = Stores::default().with::<Website>(with_host("other"))?;
    let key = ObjectKey::namespaced("default", "hello");
    let request = AdmissionRequest::create(key, with_host("hello")).with_stores(stores);
    assert!(!host::is_free(&request)?.is_allowed());
    Ok(())
}

#[tokio::test]
async fn a_client_of_v1_leaves_the_host_alone() -> Result<()> {
    let cluster = TestCluster::start();
    let websites = websites("versions")?;
    let entry = websites.zone.join("hello.example.dev");
    let _operators = cluster
        .run(|supervisor| {
            supervisor.register(config(), websites).versions(versions()).webhooks("127.0.0.1:0")
        })
        .await?;
    cluster.given(with_host("hello")).await?;
    assert!(entry.exists());

    let clients = kube::Api::<v1::Website>::default_namespaced(cluster.client());
    let change = json!({"spec": {"contentFrom": "headlines"}});
    clients.patch("hello", &PatchParams::default(), &Patch::Merge(change)).await?;
    let website = cluster.get::<Website>("hello").await?.expect("nobody deletes it");
    assert_eq!(website.spec.page.from.as_deref(), Some("headlines"));
    assert_eq!(host(&website), "hello.example.dev");
    assert!(cluster.get::<Secret>("hello").await?.is_some());
    Ok(())
}
