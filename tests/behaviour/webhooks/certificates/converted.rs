//! The `caBundle` of conversions.

use kube::{
    Api, CustomResource, CustomResourceExt, Resource,
    api::{ListParams, PostParams},
    core::{NamespaceResourceScope, crd::merge_crds},
};
use operetta::operator::conversion::Versions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "sharing.operetta.dev", version = "v1", kind = "Kiosk", namespaced)]
    pub(super) struct KioskSpec {
        pub(super) size: u32,
    }
}

mod v1alpha1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "sharing.operetta.dev", version = "v1alpha1", kind = "Kiosk", namespaced)]
    pub(super) struct KioskSpec {
        pub(super) rooms: u32,
    }
}

impl From<v1alpha1::Kiosk> for v1::Kiosk {
    fn from(old: v1alpha1::Kiosk) -> Self {
        Self { metadata: old.metadata, spec: v1::KioskSpec { size: old.spec.rooms } }
    }
}

impl From<v1::Kiosk> for v1alpha1::Kiosk {
    fn from(new: v1::Kiosk) -> Self {
        Self { metadata: new.metadata, spec: v1alpha1::KioskSpec { rooms: new.spec.size } }
    }
}

pub(super) const KIOSKS: &str = "kiosks.sharing.operetta.dev";

/// A process that converts, and the CRD by which it is called.
pub(super) struct Converting {
    pub(super) world: World,
    operators: Operators,
    program: String,
}

impl Converting {
    /// The CRD comes later than the process.
    pub(super) async fn start(name: &str) -> Self {
        let world = World::new().await;
        let program = format!("{name}-{}", world.namespace);
        let named = program.clone();
        let operators = world
            .start(move |builder| {
                builder
                    .expect_registrations()
                    .program(&named, "1")
                    .versions(Versions::hub::<v1::Kiosk>().version::<v1alpha1::Kiosk>())
                    .webhooks("127.0.0.1:0")
                    .webhook_service(&named)
                    .webhook_lifetimes(LONG, &["127.0.0.1"])
            })
            .await;
        let converting = Self { world, operators, program };
        converting.world.apply(CRD, converting.crd()).await;
        converting.until_trusted().await;
        let listed =
            || async { converting.api::<v1::Kiosk>().list(&ListParams::default()).await.is_ok() };
        eventually("a served type", listed, |is_ok| *is_ok).await;
        converting
    }

    pub(super) async fn until_trusted(&self) {
        let is_trusted = |crd: &Value| {
            crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].is_string()
        };
        self.world.until(CRD, KIOSKS, "a bundle", is_trusted).await;
    }

    /// As who deploys it has it: without a `caBundle`.
    pub(super) fn crd(&self) -> Value {
        let crds = vec![v1::Kiosk::crd(), v1alpha1::Kiosk::crd()];
        let mut crd = serde_json::to_value(merge_crds(crds, "v1").unwrap()).unwrap();
        let address = self.operators.running().webhooks().unwrap();
        let url = format!("https://{address}/webhooks/convert/{KIOSKS}");
        crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": url},
        }});
        crd
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.world.client.clone(), &self.world.namespace)
    }

    pub(super) async fn stop(self) {
        let Self { world, operators, program } = self;
        world.delete(CRD, KIOSKS).await;
        world.until(CRD, KIOSKS, "its end", Value::is_null).await;
        operators.stop().await;
        delete_secret(&world, &program).await;
    }
}

#[operetta_harness::test(server)]
async fn a_conversion_is_trusted_when_its_crd_comes_later_than_the_process() {
    let converting = Converting::start("converting").await;
    let (new, old) = (converting.api::<v1::Kiosk>(), converting.api::<v1alpha1::Kiosk>());
    let kiosk = v1alpha1::Kiosk::new("a", v1alpha1::KioskSpec { rooms: 3 });
    let created = || async { old.create(&PostParams::default(), &kiosk).await.is_ok() };
    eventually("a converted object", created, |is_ok| *is_ok).await;
    assert_eq!(new.get("a").await.unwrap().spec.size, 3);
    converting.stop().await;
}
