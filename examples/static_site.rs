//! A static site: a page in a `ConfigMap`, served by a `Deployment` behind a `Service` and an `Ingress`, and registered at
//! a content delivery network, which is another system.
//!
//! `cargo run --example static_site` needs no cluster and ends by itself. `cargo test --example static_site` tests it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
    networking::v1::Ingress,
};
use kube::{CustomResource, CustomResourceExt};
use operetta::{
    prelude::*,
    recipes::{Due, External, NameRule, checksum_of},
    testkit::TestCluster,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[kube(group = "example.dev", version = "v1", kind = "StaticSite", namespaced)]
#[kube(status = "StaticSiteStatus", derive = "Default")]
struct StaticSiteSpec {
    host: String,
    html: String,
    #[serde(default = "one")]
    replicas: i32,
}

fn one() -> i32 {
    1
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default)]
struct StaticSiteStatus {
    url: String,
    cdn: External,
    conditions: Conditions,
}

/// The other system: an HTTP client, in a real program. It has the keys of the calls by host: the same key twice is one
/// call that was repeated.
#[derive(Debug, Clone, Default)]
struct Cdn(Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>);

#[allow(clippy::unused_async, reason = "a client awaits")]
impl Cdn {
    async fn register(&self, key: &str, host: &str) -> Result<String> {
        self.hosts()?.entry(host.to_owned()).or_default().insert(key.to_owned());
        Ok(format!("cdn-of-{host}"))
    }

    async fn remove(&self, id: &str) -> Result<()> {
        self.hosts()?.remove(id.trim_start_matches("cdn-of-"));
        Ok(())
    }

    fn hosts(&self) -> Result<std::sync::MutexGuard<'_, BTreeMap<String, BTreeSet<String>>>> {
        self.0.lock().map_err(|_| operetta::anyhow::Error::msg("the network is down"))
    }
}

impl AsyncHandler for Cdn {
    type Parent = StaticSite;
    type Response = SyncResponse<StaticSiteStatus>;

    async fn sync(&self, request: SyncRequest<StaticSite>) -> Result<Self::Response> {
        let site = &request.parent;
        let mut status = site.status.clone().unwrap_or_default();
        status.url = format!("https://{}", site.spec.host);
        let mut wait = None;
        match status.cdn.due("cdn", &request, &json!({"host": site.spec.host}))? {
            Due::Call(call) => {
                let id = self.register(call.key(), &site.spec.host).await?;
                status.cdn = call.succeeded().with_id("cdn", id).valid_for(DAY);
                wait = Some(DAY);
            }
            Due::NotYet(rest) => wait = rest.or(wait),
        }
        let response = SyncResponse::status(status).children(children(site)?);
        Ok(wait.into_iter().fold(response, SyncResponse::resync_after))
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    async fn finalize(&self, request: SyncRequest<StaticSite>) -> Result<FinalizeResponse> {
        let status = request.parent.status.as_ref();
        if let Some(id) = status.and_then(|status| status.cdn.id("cdn")) {
            self.remove(id).await?;
        }
        Ok(FinalizeResponse::done())
    }
}

const DAY: Duration = Duration::from_hours(24);

fn children(site: &StaticSite) -> Result<Vec<Value>> {
    let StaticSiteSpec { host, html, replicas } = &site.spec;
    let name = NameRule::ServiceName.fit(site.metadata.name.as_deref().unwrap_or_default());
    let (metadata, labels) = (json!({"name": name}), json!({"site": name}));
    let page = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"index.html": html},
    });
    let web = json!({
        "name": "web", "image": "nginxinc/nginx-unprivileged:1.29", "ports": [{"containerPort": 8080}],
        "volumeMounts": [{"name": "page", "mountPath": "/usr/share/nginx/html"}],
    });
    // Another page is another checksum, which rolls the Pods.
    let template = json!({
        "metadata": {"labels": labels, "annotations": {"example.dev/page": checksum_of(&page)?}},
        "spec": {"containers": [web], "volumes": [{"name": "page", "configMap": {"name": name}}]},
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    });
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata,
        "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
    });
    let backend = json!({"service": {"name": name, "port": {"number": 80}}});
    let paths = json!([{"path": "/", "pathType": "Prefix", "backend": backend}]);
    let ingress = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata,
        "spec": {"rules": [{"host": host, "http": {"paths": paths}}]},
    });
    Ok(vec![page, deployment, service, ingress])
}

fn config() -> OperatorConfig {
    let child = ChildConfig::apply();
    OperatorConfig::custom::<StaticSite>("static-site")
        .child::<ConfigMap>(child)
        .child::<Deployment>(child)
        .child::<Service>(child)
        .child::<Ingress>(child)
}

fn site(html: &str) -> StaticSite {
    let host = "shop.example.dev".to_owned();
    StaticSite::new("shop", StaticSiteSpec { host, html: html.to_owned(), replicas: 2 })
}

#[tokio::main]
async fn main() -> Result<()> {
    let (cluster, cdn) = (TestCluster::start(), Cdn::default());
    cluster.install(&[StaticSite::crd()]).await?;
    let _operators = cluster.run(|all| all.register(config(), cdn.clone())).await?;
    let site = cluster.given(site("<h1>hello</h1>")).await?;
    println!("{}, registered at {:?}", site.status.unwrap_or_default().url, cdn.hosts()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn another_page_rolls_the_pods_and_a_deletion_removes_the_host() -> Result<()> {
        let (cluster, cdn) = (TestCluster::start(), Cdn::default());
        cluster.install(&[StaticSite::crd()]).await?;
        let _operators = cluster.run(|all| all.register(config(), cdn.clone())).await?;
        cluster.given(site("<h1>hello</h1>")).await?;
        let checksum = |it: &Deployment| it.spec.template.metadata.clone()?.annotations;
        let first = cluster.eventually::<Deployment>("shop", |it| checksum(it).is_some()).await;
        cluster.when::<StaticSite>("shop", |site| site.spec.html.push('!')).await?;
        cluster.eventually::<Deployment>("shop", |it| checksum(it) != checksum(&first)).await;
        cluster.settled().await;
        assert_eq!(cdn.hosts()?.get("shop.example.dev").map(BTreeSet::len), Some(1));
        cluster.when_deleted::<StaticSite>("shop").await?;
        assert!(cdn.hosts()?.is_empty());
        Ok(())
    }
}
