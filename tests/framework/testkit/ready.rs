//! What a test that waits for a parent reports when it never gets ready.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use kube::{Api, CustomResource};
use operetta::{
    prelude::*,
    testkit::{TestCluster, until_ready},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Dish", namespaced, status = "DishStatus")]
struct DishSpec {
    secret: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default)]
struct DishStatus {
    conditions: Conditions,
}

fn sync(request: &SyncRequest<Dish>) -> Result<SyncResponse> {
    match request.parent.spec.secret.as_str() {
        "known" => Ok(SyncResponse::new()),
        _ => Err(Permanent("no such dish".to_owned()).into()),
    }
}

#[tokio::test]
async fn a_stalled_parent_is_reported_with_its_reason_and_without_its_content() -> Result<()> {
    let cluster = TestCluster::start();
    let config = OperatorConfig::custom::<Dish>("cook");
    let _operators = cluster.run(|builder| builder.register(config, sync)).await?;
    let dish = Dish::new("a", DishSpec { secret: "hidden".to_owned() });
    cluster.given(dish).await?;

    let dishes: Api<Dish> = Api::default_namespaced(cluster.client());
    let waited = AssertUnwindSafe(until_ready(&dishes, "a")).catch_unwind();
    // Less than the minute of a parent that may get ready.
    let waited = tokio::time::timeout(Duration::from_secs(30), waited).await?;
    let message = *waited.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("Stalled=True HandlerFailed: "), "{message}");
    assert!(message.contains("no such dish") && !message.contains("hidden"), "{message}");

    cluster.when("a", |dish: &mut Dish| dish.spec.secret = "known".to_owned()).await?;
    assert_eq!(until_ready(&dishes, "a").await.spec.secret, "known");
    Ok(())
}
