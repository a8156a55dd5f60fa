//! The test that the README shows.

// README: begin
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use operetta_apiserver::Server;

#[operetta_harness::test]
async fn an_object_gets_a_uid() {
    let config_maps: Api<ConfigMap> = Api::default_namespaced(Server::start().client());
    let mut settings = ConfigMap::default();
    settings.metadata.name = Some("settings".to_owned());
    let created = config_maps.create(&PostParams::default(), &settings).await.unwrap();
    assert!(created.metadata.uid.is_some());
}
// README: end
