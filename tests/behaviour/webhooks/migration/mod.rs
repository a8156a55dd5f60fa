//! Objects that are stored in an old version of their type: the leader writes them again.

mod refused;
mod rewritten;

use std::time::Duration;

use kube::{
    Api, CustomResource, CustomResourceExt, Resource,
    api::{DynamicObject, ListParams, PostParams},
    core::crd::merge_crds,
};
use operetta::{
    election::LeaderElection, operator::conversion::Versions, prelude::*, supervisor::Migration,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(
        group = "migration.operetta.dev",
        version = "v1",
        kind = "Shelf",
        plural = "shelves",
        namespaced
    )]
    pub(super) struct ShelfSpec {
        pub(super) size: u32,
    }
}

mod v1alpha1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(
        group = "migration.operetta.dev",
        version = "v1alpha1",
        kind = "Shelf",
        plural = "shelves",
        namespaced
    )]
    pub(super) struct ShelfSpec {
        pub(super) boards: String,
    }
}

impl TryFrom<v1alpha1::Shelf> for v1::Shelf {
    type Error = String;

    fn try_from(old: v1alpha1::Shelf) -> Result<Self, String> {
        let size =
            old.spec.boards.parse().map_err(|_| "spec.boards: it is no number".to_owned())?;
        Ok(Self { metadata: old.metadata, spec: v1::ShelfSpec { size } })
    }
}

impl From<v1::Shelf> for v1alpha1::Shelf {
    fn from(new: v1::Shelf) -> Self {
        let boards = new.spec.size.to_string();
        Self { metadata: new.metadata, spec: v1alpha1::ShelfSpec { boards } }
    }
}

const SHELVES: &str = "shelves.migration.operetta.dev";

fn versions() -> Versions {
    Versions::hub::<v1::Shelf>().version::<v1alpha1::Shelf>().into()
}

fn config() -> OperatorConfig {
    OperatorConfig::custom::<v1::Shelf>("shelves")
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn idle(_: &SyncRequest<v1::Shelf>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

/// The type, and a process that converts it and migrates nothing.
struct Shop {
    world: World,
    converter: Operators,
    tls: Tls,
    certificate: String,
}

impl Shop {
    /// With these objects, which are stored in the old version.
    async fn with(objects: &[(&str, &str)]) -> Self {
        Self::on(World::new().await, objects).await
    }

    async fn on(world: World, objects: &[(&str, &str)]) -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let tls = Tls::from_pem(cert.pem(), signing_key.serialize_pem());
        let serving = tls.clone();
        let converter = world
            .start(|builder| {
                let builder = builder.expect_registrations().versions(versions());
                builder.webhooks("127.0.0.1:0").webhook_tls(serving).migration(Migration::ByHand)
            })
            .await;
        let shop = Self { world, converter, tls, certificate: cert.pem() };
        shop.store("v1alpha1").await;
        let old = shop.api::<v1alpha1::Shelf>();
        for (name, boards) in objects {
            let object = shelf(name, boards);
            let created = || async { old.create(&PostParams::default(), &object).await.is_ok() };
            eventually(name, created, |is_created| *is_created).await;
        }
        shop
    }

    /// Lets the API server store this version.
    async fn store(&self, version: &str) {
        let crds = vec![v1::Shelf::crd(), v1alpha1::Shelf::crd()];
        let mut crd = serde_json::to_value(merge_crds(crds, version).unwrap()).unwrap();
        let address = self.converter.running().webhooks().unwrap();
        let url = format!("https://{address}/webhooks/convert/{SHELVES}");
        crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"url": url, "caBundle": base64(&self.certificate)},
        }});
        self.world.apply(CRD, crd).await;
    }

    fn api<K: Resource<DynamicType = ()>>(&self) -> Api<DynamicObject> {
        let resource = kube::api::ApiResource::erase::<K>(&());
        Api::namespaced_with(self.world.client.clone(), &self.world.namespace, &resource)
    }

    /// A process with the operator of the type.
    fn process(&self) -> impl FnOnce(SupervisorBuilder) -> SupervisorBuilder + use<> {
        let tls = self.tls.clone();
        move |builder| {
            let builder = builder.register(config(), idle).versions(versions());
            builder.webhooks("127.0.0.1:0").webhook_tls(tls)
        }
    }

    /// One of several.
    fn elected(&self, name: &str) -> impl FnOnce(SupervisorBuilder) -> SupervisorBuilder + use<> {
        let (process, seconds) = (self.process(), Duration::from_secs);
        let election = LeaderElection::new("shelves")
            .in_namespace(&self.world.namespace)
            .as_identity(name)
            .with_lease_duration(seconds(4))
            .with_renew_deadline(seconds(3))
            .with_retry_period(Duration::from_millis(500));
        move |builder| process(builder.leader_election(election))
    }

    async fn stored_versions(&self) -> Value {
        self.world.get(CRD, SHELVES).await["status"]["storedVersions"].take()
    }

    async fn until_migrated(&self) {
        let is_new = |stored: &Value| *stored == json!(["v1"]);
        eventually("the new version alone", || self.stored_versions(), is_new).await;
    }

    /// Without the old version and its conversion nothing is lost.
    async fn until_the_old_version_is_gone(&self, sizes: &[u64]) {
        self.world.apply(CRD, serde_json::to_value(v1::Shelf::crd()).unwrap()).await;
        let without = |crd: &Value| crd["spec"]["versions"].as_array().unwrap().len() == 1;
        self.world.until(CRD, SHELVES, "one version", without).await;
        let new = self.api::<v1::Shelf>();
        let read = || async {
            let list = new.list(&ListParams::default()).await;
            let size = |it: DynamicObject| it.data["spec"]["size"].as_u64();
            list.map(|list| list.into_iter().map(size).collect::<Vec<_>>()).unwrap_or_default()
        };
        let expected: Vec<_> = sizes.iter().copied().map(Some).collect();
        eventually("all sizes", read, |sizes| *sizes == expected).await;
    }

    async fn end(self) {
        self.world.delete(CRD, SHELVES).await;
        self.world.until(CRD, SHELVES, "its end", Value::is_null).await;
        self.converter.stop().await;
    }
}

fn shelf(name: &str, boards: &str) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "migration.operetta.dev/v1alpha1", "kind": "Shelf",
        "metadata": {"name": name}, "spec": {"boards": boards},
    }))
    .unwrap()
}

/// What the process shows of its migration; null if there is none.
async fn migration(process: &Operators) -> Value {
    let (_, body) = process.http("/api/v1/operators/shelves").await;
    serde_json::from_str::<Value>(&body).unwrap()["migration"].take()
}

async fn until_shown(process: &Operators, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    eventually(what, || migration(process), is_right).await
}

fn says(part: &str) -> impl Fn(&Value) -> bool {
    move |shown| shown["message"].as_str().is_some_and(|message| message.contains(part))
}

async fn until_counted(process: &Operators, outcome: &str, count: usize) {
    let line = format!(
        "operetta_migration_objects_total{{outcome=\"{outcome}\",type=\"{SHELVES}\"}} {count}\n"
    );
    let counted = |(_, body): &(u16, String)| body.contains(&line);
    eventually(&line, || process.http("/metrics"), counted).await;
}
