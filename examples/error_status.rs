//! Handlers that report their errors in the status, in two ways: a second function for the error,
//! and a struct with an `on_error`, where one function computes the status of success and failure.
//!
//! `cargo run --example error_status` needs no cluster and ends by itself. It prints the status of
//! a soup and of a bread before and after their salt is removed, and shows that the children stay.

use std::{fmt::Debug, time::Duration};

use anyhow::Error;
use k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap};
use kube::{
    Api, CustomResource, CustomResourceExt, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use operetta::{
    object::Object,
    operator::ErrorResponse,
    prelude::*,
    supervisor::SupervisorBuilder,
    testkit::{TestCluster, eventually},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Soup", namespaced, status = "DishStatus")]
struct SoupSpec {
    salt: String,
}

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Bread", namespaced, status = "DishStatus")]
struct BreadSpec {
    salt: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
struct DishStatus {
    phase: String,
}

fn config_map(request: &SyncRequest) -> Result<Value> {
    let salt = request.parent.pointer("/spec/salt").unwrap_or_default();
    if salt == "" {
        return Err(Error::msg("there is no salt"));
    }
    let (name, ty) = (request.parent.name(), request.parent.ty().kind().to_lowercase());
    Ok(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("{name}-{ty}")}, "data": {"salt": salt},
    }))
}

// === a pair of functions ===

fn sync(request: &SyncRequest) -> Result<SyncResponse<DishStatus>> {
    Ok(SyncResponse::status(DishStatus { phase: "Served".to_owned() }).child(config_map(request)?))
}

/// The status, and the time of the retry: `None` leaves that to the backoff.
fn on_error(_: &SyncRequest, error: &Error) -> (Value, Option<Duration>) {
    (json!({"phase": format!("Failed: {error}")}), None)
}

// === a struct ===

struct Baker;

impl Handler for Baker {
    type Parent = Object;
    type Response = SyncResponse<DishStatus>;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse<DishStatus>> {
        let response = SyncResponse::status(status(None)).child(config_map(request)?);
        Ok(response.resync_after(Duration::from_mins(5)))
    }

    fn on_error(&self, _: &SyncRequest, error: &Error) -> ErrorResponse {
        ErrorResponse::status(status(Some(error)))
    }
}

fn status(error: Option<&Error>) -> DishStatus {
    let phase = error.map_or_else(|| "Served".to_owned(), |error| format!("Failed: {error}"));
    DishStatus { phase }
}

#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    cluster.install(&[Soup::crd(), Bread::crd()]).await?;
    let soups = OperatorConfig::custom::<Soup>("soups").child::<ConfigMap>(ChildConfig::apply());
    let breads = OperatorConfig::custom::<Bread>("breads").child::<ConfigMap>(ChildConfig::apply());
    let register =
        |all: SupervisorBuilder| all.register(soups, (sync, on_error)).register(breads, Baker);
    let _operators = cluster.run(register).await?;

    let salt = "much".to_owned();
    show(&cluster, Soup::new("a", SoupSpec { salt: salt.clone() })).await?;
    show(&cluster, Bread::new("a", BreadSpec { salt })).await?;
    let config_maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let names: Vec<String> =
        config_maps.list(&<_>::default()).await?.iter().map(ResourceExt::name_any).collect();
    println!("the children still exist: {}", names.join(", "));
    Ok(())
}

/// Creates a parent, removes its salt, and prints its status before and after.
async fn show<K>(cluster: &TestCluster, parent: K) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    let parents: Api<K> = Api::default_namespaced(cluster.client());
    let name = parents.create(&PostParams::default(), &parent).await?.name_any();
    let phase = || async {
        let parent = serde_json::to_value(parents.get(&name).await.ok()?).ok()?;
        parent.pointer("/status/phase").and_then(Value::as_str).map(str::to_owned)
    };
    for (what, word) in [("with salt", "Served"), ("without salt", "Failed")] {
        let is_it = |phase: &Option<String>| phase.as_ref().is_some_and(|it| it.contains(word));
        let phase = eventually(what, phase, is_it).await.unwrap_or_default();
        println!("{} {what}: {phase}", K::kind(&()));
        let without = Patch::Merge(json!({"spec": {"salt": ""}}));
        parents.patch(&name, &PatchParams::default(), &without).await?;
    }
    Ok(())
}
