//! Children that `finalize` returns: created, waited for, and gone with their parent.

use anyhow::Error;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PropagationPolicy};
use operetta::{
    object::Object,
    operator::{IntoHandler, Owns},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition},
};

/// Makes a last backup before the parent is deleted. A user of the test sets its state.
#[derive(Clone, Copy)]
struct Backup;

impl Backup {
    fn next(request: &SyncRequest) -> Result<FinalizeResponse> {
        let backup = request.child::<ConfigMap>("backup")?;
        let state = backup.and_then(|backup| backup.data.as_ref()?.get("state").cloned());
        match state.as_deref() {
            Some("complete") => Ok(FinalizeResponse::done()),
            Some("failed") => Err(Error::msg("the last backup failed")),
            _ => {
                let backup = config_map("backup", json!({"from": request.parent.name()}));
                Ok(FinalizeResponse::wait().child(backup).with_status(json!({"taste": "kept"})))
            }
        }
    }
}

impl Handler for Backup {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        Self::next(request)
    }
}

/// The same, asynchronous.
struct BackupAsync;

impl AsyncHandler for BackupAsync {
    type Parent = Object;
    type Response = SyncResponse;

    async fn sync(&self, request: SyncRequest) -> Result<SyncResponse> {
        recipe::sync_async(request).await
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    async fn finalize(&self, request: SyncRequest) -> Result<FinalizeResponse> {
        tokio::task::yield_now().await;
        Backup::next(&request)
    }
}

/// A parent `r` with a child `c`.
async fn ready<Form>(handler: impl IntoHandler<Form, Role = Owns>) -> (World, Operators) {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.create(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    (world, operators)
}

async fn until_backed_up(world: &World) -> Value {
    let backup = world.until(CONFIG_MAP, "backup", "the backup", Value::is_object).await;
    let is_waiting = |parent: &Value| {
        condition(parent, "Ready")["reason"] == "Waiting" && parent["status"]["taste"] == "kept"
    };
    world.until(RECIPE, "r", "that the parent waits", is_waiting).await;
    backup
}

async fn set_state(world: &World, state: &str) {
    world.patch(CONFIG_MAP, "backup", json!({"data": {"state": state}})).await;
}

async fn until_gone(world: &World) {
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    world.until(CONFIG_MAP, "backup", "the backup collected", Value::is_null).await;
}

async fn assert_waited_for<Form>(handler: impl IntoHandler<Form, Role = Owns>) {
    let (world, operators) = ready(handler).await;
    world.delete(RECIPE, "r").await;
    let backup = until_backed_up(&world).await;
    let owner = &backup["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["controller"]), (&json!("Recipe"), &json!(true)));
    assert_eq!(backup["data"], json!({"from": "r"}));
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["metadata"]["deletionTimestamp"], Value::Null, "the other child stays");
    set_state(&world, "complete").await;
    until_gone(&world).await;
    world.until(CONFIG_MAP, "c", "the other child collected", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_child_of_finalize_is_waited_for_and_goes_with_the_parent() {
    assert_waited_for(Backup).await;
    assert_waited_for(BackupAsync).await;
}

async fn delete_with(world: &World, policy: PropagationPolicy) {
    let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
    world.api(RECIPE).delete("r", &params).await.unwrap();
}

/// The garbage collector deletes at once what the parent owns.
#[operetta_harness::test(server)]
async fn a_backup_survives_the_deletion_in_the_foreground_until_it_is_complete() {
    let (world, operators) = ready(Backup).await;
    delete_with(&world, PropagationPolicy::Foreground).await;
    let backup = until_backed_up(&world).await;
    world.until(CONFIG_MAP, "c", "the owned child collected", Value::is_null).await;
    let is_over = |parent: &Value| parent["metadata"]["finalizers"] == json!(["operetta.dev/cook"]);
    world.until(RECIPE, "r", "the end of the collection", is_over).await;
    assert_eq!(world.get(CONFIG_MAP, "backup").await["metadata"]["uid"], backup["metadata"]["uid"]);
    set_state(&world, "complete").await;
    until_gone(&world).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_backup_goes_with_a_parent_that_leaves_its_children_as_orphans() {
    let (world, operators) = ready(Backup).await;
    delete_with(&world, PropagationPolicy::Orphan).await;
    until_backed_up(&world).await;
    set_state(&world, "complete").await;
    until_gone(&world).await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert!(
        child["metadata"]["ownerReferences"].is_null(),
        "the other child is an orphan: {child}"
    );
    operators.stop().await;
}
