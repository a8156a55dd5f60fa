//! A type in two versions, which the process converts.

mod failing;
mod watched;

use kube::{
    Api, CustomResource, CustomResourceExt, Resource,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::crd::merge_crds,
};
use operetta::{operator::conversion::Versions, prelude::*, testkit::TestCluster};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(
        group = "conversion.operetta.dev",
        version = "v1",
        kind = "Stall",
        namespaced,
        status = "super::Seen"
    )]
    pub(super) struct StallSpec {
        pub(super) size: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(super) class: Option<String>,
    }
}

mod v1alpha1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(
        group = "conversion.operetta.dev",
        version = "v1alpha1",
        kind = "Stall",
        namespaced,
        status = "super::Seen"
    )]
    pub(super) struct StallSpec {
        pub(super) rooms: String,
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
struct Seen {
    visitors: u32,
}

impl TryFrom<v1alpha1::Stall> for v1::Stall {
    type Error = String;

    fn try_from(old: v1alpha1::Stall) -> Result<Self, String> {
        let size = old.spec.rooms.parse().map_err(|_| "spec.rooms: it is no number".to_owned())?;
        let spec = v1::StallSpec { size, class: None };
        Ok(Self { metadata: old.metadata, spec, status: old.status })
    }
}

/// A size that the old version cannot have, and one at which the conversion panics.
const UNLUCKY: u32 = 13;
const PANICS: u32 = 14;

impl TryFrom<v1::Stall> for v1alpha1::Stall {
    type Error = String;

    fn try_from(new: v1::Stall) -> Result<Self, String> {
        match new.spec.size {
            UNLUCKY => return Err("spec.size: nobody wants it".to_owned()),
            PANICS => panic!("a secret of the handler"),
            _ => {}
        }
        let spec = v1alpha1::StallSpec { rooms: new.spec.size.to_string() };
        Ok(Self { metadata: new.metadata, spec, status: new.status })
    }
}

const CRD_NAME: &str = "stalls.conversion.operetta.dev";

/// The process, with the type whose new version is stored.
async fn started() -> Answering {
    let versions = Versions::hub::<v1::Stall>().keeping::<v1alpha1::Stall>(&["spec.class"], &[]);
    let answering =
        Answering::with(Vec::new(), move |builder| builder.versions(versions.clone())).await;
    let crds = vec![v1::Stall::crd(), v1alpha1::Stall::crd()];
    let mut crd = serde_json::to_value(merge_crds(crds, "v1").unwrap()).unwrap();
    let address = answering.operators.running().webhooks().unwrap();
    let url = format!("https://{address}/webhooks/convert/{CRD_NAME}");
    crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"url": url, "caBundle": base64(&answering.certificate)},
    }});
    answering.world.apply(CRD, crd).await;
    let served =
        || async { api_of::<v1::Stall>(&answering).list(&ListParams::default()).await.is_ok() };
    eventually("a served type", served, |served| *served).await;
    answering
}

fn api_of<K: Resource<DynamicType = ()>>(answering: &Answering) -> Api<DynamicObject> {
    let resource = kube::api::ApiResource::erase::<K>(&());
    Api::namespaced_with(answering.world.client.clone(), &answering.world.namespace, &resource)
}

fn stall(version: &str, spec: Value) -> DynamicObject {
    named("a", version, spec)
}

fn named(name: &str, version: &str, spec: Value) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": format!("conversion.operetta.dev/{version}"), "kind": "Stall",
        "metadata": {"name": name}, "spec": spec,
    }))
    .unwrap()
}

async fn ended(answering: Answering) {
    answering.world.delete(CRD, CRD_NAME).await;
    answering.world.until(CRD, CRD_NAME, "its end", Value::is_null).await;
    answering.stop().await;
}

#[operetta_harness::test(server)]
async fn an_old_client_loses_nothing_of_the_new_version() {
    let answering = started().await;
    let (new, old) = (api_of::<v1::Stall>(&answering), api_of::<v1alpha1::Stall>(&answering));
    let params = PostParams::default();
    new.create(&params, &stall("v1", json!({"size": 3, "class": "fast"}))).await.unwrap();
    let read = old.get("a").await.unwrap();
    assert_eq!(read.data["spec"], json!({"rooms": "3"}));
    // An old client reads, changes and writes the whole object.
    let mut changed = read;
    changed.data["spec"]["rooms"] = json!("4");
    old.replace("a", &params, &changed).await.unwrap();
    let stored = new.get("a").await.unwrap();
    assert_eq!(stored.data["spec"], json!({"size": 4, "class": "fast"}));
    assert_eq!(stored.metadata.annotations, None);

    // By server-side apply in the old version, and the fields of both managers in both.
    let apply = PatchParams::apply("old-client").force();
    let wanted = stall("v1alpha1", json!({"rooms": "5"}));
    old.patch("a", &apply, &Patch::Apply(&wanted)).await.unwrap();
    assert_eq!(new.get("a").await.unwrap().data["spec"]["size"], 5);
    let lists = [new.list(&ListParams::default()).await, old.list(&ListParams::default()).await];
    assert!(lists.iter().all(|list| list.as_ref().unwrap().items.len() == 1));
    ended(answering).await;
}

#[operetta_harness::test(server)]
async fn what_cannot_be_converted_is_refused_with_the_name_and_the_reason() {
    let answering = started().await;
    let old = api_of::<v1alpha1::Stall>(&answering);
    let odd = stall("v1alpha1", json!({"rooms": "many"}));
    let Err(kube::Error::Api(refused)) = old.create(&PostParams::default(), &odd).await else {
        panic!("it was stored");
    };
    let ns = &answering.world.namespace;
    let why = format!(
        "Stall {ns}/a cannot be converted from conversion.operetta.dev/v1alpha1 to conversion.operetta.dev/v1: \
         spec.rooms: it is no number"
    );
    assert!(refused.message.contains(&why), "{}", refused.message);
    let _ = old.delete("a", &DeleteParams::default()).await;
    ended(answering).await;
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn idle(_: &SyncRequest<v1::Stall>) -> Result<SyncResponse> {
    Ok(SyncResponse::new())
}

/// The process installs the CRD, with the versions of which no operator has parents.
#[operetta_harness::test]
async fn a_process_installs_all_versions_of_its_types_and_converts_between_them() {
    let cluster = TestCluster::start();
    let versions = Versions::hub::<v1::Stall>().keeping::<v1alpha1::Stall>(&["spec.class"], &[]);
    let running = cluster
        .run(|builder| {
            let config = OperatorConfig::custom::<v1::Stall>("stalls");
            builder.register(config, idle).versions(versions).webhooks("127.0.0.1:0")
        })
        .await
        .unwrap();
    let old: Api<v1alpha1::Stall> = Api::namespaced(cluster.client(), "default");
    let rooms = "3".to_owned();
    let stall = v1alpha1::Stall::new("a", v1alpha1::StallSpec { rooms });
    old.create(&PostParams::default(), &stall).await.unwrap();
    let new: Api<v1::Stall> = Api::namespaced(cluster.client(), "default");
    assert_eq!(new.get("a").await.unwrap().spec.size, 3);
    running.stop().await.unwrap();
}
