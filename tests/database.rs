//! The example of a database, on the embedded API server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "it is a program")]
#[path = "../examples/database/main.rs"]
mod database;

use database::{Database, DatabaseSpec};
use k8s_openapi::api::{apps::v1::Deployment, batch::v1::Job, core::v1::Secret};
use kube::{
    Api, CustomResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operetta::testkit::{TestCluster, eventually, until_ready};
use serde_json::{Value, json};

#[test]
fn the_example_is_short() {
    assert!(include_str!("../examples/database/main.rs").lines().count() <= 60);
}

async fn set_status<K>(api: &Api<K>, name: &str, status: Value)
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let patch = Patch::Merge(json!({"status": status}));
    api.patch_status(name, &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test]
async fn a_database_keeps_its_password_and_is_backed_up_before_it_goes() {
    let cluster = TestCluster::start();
    cluster.install(&[Database::crd()]).await.unwrap();
    let _operators = cluster.run(database::register).await.unwrap();
    let databases: Api<Database> = Api::default_namespaced(cluster.client());
    let secrets: Api<Secret> = Api::default_namespaced(cluster.client());
    let deployments: Api<Deployment> = Api::default_namespaced(cluster.client());
    let jobs: Api<Job> = Api::default_namespaced(cluster.client());

    let database = Database::new("main", DatabaseSpec { replicas: 1 });
    databases.create(&PostParams::default(), &database).await.unwrap();
    let look = || async { deployments.get_opt("main").await.unwrap() };
    eventually("the Deployment", look, Option::is_some).await;
    let ready = json!({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "updatedReplicas": 1, "observedGeneration": 1});
    set_status(&deployments, "main", ready).await;
    let look = || async { databases.get("main").await.unwrap() };
    let is_ready = |it: &Database| it.status.as_ref().is_some_and(|status| status.ready == 1);
    eventually("its replica", look, is_ready).await;
    until_ready(&databases, "main").await;
    let password = secrets.get("main").await.unwrap();

    databases.delete("main", &DeleteParams::default()).await.unwrap();
    let look = || async { jobs.get_opt("main-backup").await.unwrap() };
    eventually("the last backup", look, Option::is_some).await;
    assert_eq!(secrets.get("main").await.unwrap(), password, "it was made once");
    set_status(&jobs, "main-backup", json!({"succeeded": 1})).await;
    let look = || async { databases.get_opt("main").await.unwrap() };
    eventually("the database gone", look, Option::is_none).await;
}
