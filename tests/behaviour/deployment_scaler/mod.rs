//! The operator `deployment-scaler`: replicas that are held at zero outside of business hours.

mod hours;
mod others;

use operators::deployment_scaler::{DeploymentScaler, HOURS, NAME, STATE, config};
use operetta::operator::HeldReplicas;
use serde_json::{Value, json};

use crate::world::{DEPLOYMENT, Kind, Operators, World};

const BUDGET: Kind = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");

const OPEN: &str = "Mon-Sun 00:00-24:00 UTC";

async fn start(world: &World) -> Operators {
    let config = config().within_namespace(&world.namespace);
    world.start(|builder| builder.register(config, DeploymentScaler)).await
}

/// Hours that begin in three days.
pub(crate) fn closed() -> String {
    use k8s_openapi::jiff::{Timestamp, ToSpan, tz::TimeZone};
    let later = Timestamp::now().to_zoned(TimeZone::UTC).checked_add(3.days()).unwrap();
    format!("{} 08:00-18:00 UTC", later.strftime("%a"))
}

async fn deployment(world: &World, hours: &str, replicas: i32) {
    let labels = json!({"app": "d"});
    let container = json!({"name": "c", "image": "example.com/none"});
    let body = json!({
        "metadata": {"name": "d", "annotations": {HOURS: hours}},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    });
    world.create(DEPLOYMENT, body).await;
}

async fn set_hours(world: &World, hours: Value) {
    world.patch(DEPLOYMENT, "d", json!({"metadata": {"annotations": {HOURS: hours}}})).await;
}

/// Scales as `kubectl scale` does.
async fn scale(world: &World, replicas: i32) {
    let patch = kube::api::Patch::Merge(json!({"spec": {"replicas": replicas}}));
    world
        .api(DEPLOYMENT)
        .patch_scale("d", &kube::api::PatchParams::default(), &patch)
        .await
        .unwrap();
}

/// Waits until the Deployment has these replicas and this record of them; none if it is empty.
async fn until_scaled(world: &World, replicas: i32, record: &str) -> Value {
    let label = HeldReplicas::label(NAME);
    let is_it = |deployment: &Value| {
        let recorded = deployment["metadata"]["labels"][&label].as_str().unwrap_or_default();
        deployment["spec"]["replicas"] == replicas && recorded == record
    };
    world.until(DEPLOYMENT, "d", &format!("{replicas} replicas, `{record}`"), is_it).await
}

async fn until_stated(world: &World, part: &str) {
    let is_it = |deployment: &Value| {
        deployment["metadata"]["annotations"][STATE].as_str().is_some_and(|it| it.contains(part))
    };
    world.until(DEPLOYMENT, "d", part, is_it).await;
}
