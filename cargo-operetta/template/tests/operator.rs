//! What the operator does: as a function, on the embedded API server, and on a real cluster.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use operetta::{
    prelude::*,
    testkit::{TestCluster, assert_pure},
};
use scaffold_operator::{Scaffold, ScaffoldSpec, config, sync};
use serde_json::json;

fn hello() -> Scaffold {
    Scaffold::new("hello", ScaffoldSpec { image: "example.dev/hello:1".to_owned(), port: 8080 })
}

/// The handler is a function: most tests need nothing else.
#[tokio::test]
async fn the_service_leads_to_the_port_of_the_server() -> Result<()> {
    let parent = serde_json::to_value(hello())?;
    let request = SyncRequest::example(&K8sType::of::<Scaffold>(), parent)?;
    let response = assert_pure(sync, &request).await?;
    let [deployment, service] = &*response.children else { panic!("two children") };
    let container = &deployment.object["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["ports"], json!([{"name": "http", "containerPort": 8080}]));
    assert_eq!(service.object["spec"]["ports"][0]["targetPort"], "http");
    Ok(())
}

/// The operator on an API server in this process, which has the CRD of the operator.
#[tokio::test]
async fn a_change_of_the_image_reaches_the_deployment() -> Result<()> {
    let cluster = TestCluster::start();
    let _operators = cluster.run(|supervisor| supervisor.register(config(), sync)).await?;
    cluster.given(hello()).await?;
    let image = async || -> Result<_> {
        let deployment = cluster.get::<Deployment>("hello").await?;
        let spec = deployment.and_then(|it| it.spec.template.spec);
        Ok(spec.and_then(|mut it| it.containers.remove(0).image))
    };
    assert_eq!(image().await?.as_deref(), Some("example.dev/hello:1"));
    assert!(cluster.get::<Service>("hello").await?.is_some());
    let newer = |parent: &mut Scaffold| parent.spec.image = "example.dev/hello:2".to_owned();
    cluster.when("hello", newer).await?;
    assert_eq!(image().await?.as_deref(), Some("example.dev/hello:2"));
    Ok(())
}

/// The same on the cluster of the kubeconfig, in its namespace. The CRD is installed there.
#[tokio::test]
#[ignore = "needs a cluster: cargo test -- --ignored"]
async fn it_works_on_a_real_cluster() -> Result<()> {
    let client = Client::try_default().await?;
    let operators = Supervisor::builder()
        .connect_to(Connect::kubeconfig())
        .install_crds()
        .register(config().within_namespace(client.default_namespace()), sync)
        .start()
        .await?;
    operators.ready().await;
    let parents: Api<Scaffold> = Api::default_namespaced(client.clone());
    parents.create(&PostParams::default(), &hello()).await?;
    operators.settled().await;
    let children: Api<Deployment> = Api::default_namespaced(client);
    let deployment = children.get_opt("hello").await?;
    parents.delete("hello", &DeleteParams::default()).await?;
    operators.stop().await?;
    assert!(deployment.is_some());
    Ok(())
}
