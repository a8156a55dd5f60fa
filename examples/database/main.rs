//! A database: a password that is made once, a Deployment, and a last backup before it is deleted.
use k8s_openapi::api::{apps::v1::Deployment, batch::v1::Job, core::v1::Secret};
use kube::{CustomResource, ResourceExt};
use operetta::{operator::Conditions, prelude::*, supervisor::SupervisorBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Database", namespaced, status = DatabaseStatus)]
pub(crate) struct DatabaseSpec {
    pub(crate) replicas: i32,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
pub(crate) struct DatabaseStatus {
    pub(crate) ready: i32,
    #[serde(default)]
    pub(crate) conditions: Conditions,
}

fn sync(request: &SyncRequest<Database>) -> Result<SyncResponse<DatabaseStatus>> {
    let (name, password) = (request.parent.name_any(), uuid::Uuid::new_v4().to_string());
    let deployment = request.child::<Deployment>(&name)?;
    let ready = deployment.and_then(|it| it.status.as_ref()?.ready_replicas).unwrap_or(0);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
        "stringData": {"password": password}});
    let (labels, pod) = (json!({"app": name}), pod(&name, "serve"));
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": request.parent.spec.replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod}}});
    let status = DatabaseStatus { ready, conditions: Conditions::new() };
    Ok(SyncResponse::status(status).ensure(secret).child(deployment))
}

fn finalize(request: &SyncRequest<Database>) -> Result<FinalizeResponse> {
    let (database, name) = (request.parent.name_any(), request.parent.name_any() + "-backup");
    let job = request.child::<Job>(&name)?;
    let is_done = job.and_then(|job| job.status.as_ref()?.succeeded) > Some(0);
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"template": {"spec": pod(&database, "backup")}}});
    Ok(if is_done { FinalizeResponse::done() } else { FinalizeResponse::wait().child(job) })
}

fn pod(database: &str, command: &str) -> Value {
    json!({"restartPolicy": if command == "serve" { "Always" } else { "Never" }, "containers": [{
        "name": "main", "image": "example.com/database:1", "args": [command],
        "envFrom": [{"secretRef": {"name": database}}]}]})
}

pub(crate) fn register(supervisor: SupervisorBuilder) -> SupervisorBuilder {
    let (config, applied) = (OperatorConfig::of::<Database>("databases"), ChildConfig::apply());
    let config = config.child::<Secret>(applied).child::<Deployment>(applied).child::<Job>(applied);
    supervisor.register(config, with_finalizer(sync, finalize))
}

#[tokio::main]
async fn main() -> Result<()> {
    Ok(register(Supervisor::builder()).run().await?)
}
