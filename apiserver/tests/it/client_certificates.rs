//! Certificates of clients: whom they prove to be, and which are refused.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client, Config,
    api::{DynamicObject, ListParams, Patch, PatchParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta_apiserver::{Running, Server, User};
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};

use crate::common::{api, config_maps, create, refusal};

const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

fn listening(server: &Server) -> Running {
    server.serve("127.0.0.1:0".parse().unwrap()).unwrap()
}

async fn client(kubeconfig: Kubeconfig, context: Option<&str>) -> Client {
    let context = context.map(str::to_owned);
    let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    Client::try_from(config).unwrap()
}

/// A client with a certificate and nothing else.
async fn certified(running: &Running, certificate: &str, key: &str) -> Client {
    let mut kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let user = kubeconfig.auth_infos[0].auth_info.as_mut().unwrap();
    user.token = None;
    user.client_certificate_data = Some(BASE64_STANDARD.encode(certificate));
    user.client_key_data = Some(BASE64_STANDARD.encode(key).into());
    client(kubeconfig, None).await
}

/// Who the server says that a client is.
async fn whoami(client: &Client) -> Result<Value, kube::Error> {
    let request = http::Request::post(SELF).header("content-type", "application/json");
    let review: Value = client.request(request.body(b"{}".to_vec()).unwrap()).await?;
    Ok(review["status"]["userInfo"].clone())
}

#[operetta_harness::test]
async fn the_kubeconfig_of_a_user_makes_requests_of_that_user() {
    let server = Server::builder().rbac().start();
    let running = listening(&server);
    let jane = User::new("jane").group("developers").group("testers");
    let jane = Kubeconfig::from_yaml(&running.kubeconfig_of(&jane).unwrap()).unwrap();
    let jane = client(jane, None).await;
    let user = whoami(&jane).await.unwrap();
    assert_eq!(user["username"], "jane");
    assert_eq!(user["groups"], json!(["developers", "testers", "system:authenticated"]));
    let id = &user["extra"]["authentication.kubernetes.io/credential-id"][0];
    assert!(id.as_str().unwrap().starts_with("X509SHA256="), "{user}");
    let (code, _, message) = refusal(config_maps(&jane).list(&ListParams::default()).await);
    assert_eq!(code, 403);
    assert!(message.contains("User \"jane\" cannot list resource \"configmaps\""), "{message}");
    running.stop().await;
}

#[operetta_harness::test]
async fn the_administrator_has_a_certificate_beside_the_token() {
    let server = Server::builder().rbac().start();
    let running = listening(&server);
    let kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let with = |change: fn(&mut kube::config::AuthInfo)| {
        let mut kubeconfig = kubeconfig.clone();
        change(kubeconfig.auth_infos[0].auth_info.as_mut().unwrap());
        kubeconfig
    };
    let by_certificate = with(|user| user.token = None);
    let by_token = with(|user| {
        (user.client_certificate_data, user.client_key_data) = (None, None);
    });
    for kubeconfig in [by_certificate, by_token, kubeconfig.clone()] {
        let user = whoami(&client(kubeconfig, None).await).await.unwrap();
        assert_eq!(user["username"], "admin");
        assert_eq!(user["groups"], json!(["system:masters", "system:authenticated"]));
    }
    running.stop().await;
}

#[operetta_harness::test]
async fn a_user_can_be_added_to_the_kubeconfig_as_a_context() {
    let server = Server::builder().rbac().start();
    let mut running = listening(&server);
    running.add_user(&User::new("root").group("system:masters")).unwrap();
    let kubeconfig = || Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let name = |user: Value| user["username"].clone();
    assert_eq!(name(whoami(&client(kubeconfig(), None).await).await.unwrap()), "admin");
    let root = client(kubeconfig(), Some("root")).await;
    assert_eq!(name(whoami(&root).await.unwrap()), "root");
    config_maps(&root).list(&ListParams::default()).await.unwrap();
    running.stop().await;
}

#[operetta_harness::test]
async fn an_approved_request_for_a_certificate_ends_in_one_that_is_accepted() {
    let server = Server::builder().rbac().start();
    let running = listening(&server);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "carol");
    params.distinguished_name.push(DnType::OrganizationName, "people");
    let request = params.serialize_request(&key).unwrap().pem().unwrap();
    let requests: Api<DynamicObject> =
        api(&server.client(), "certificates.k8s.io/v1", "CertificateSigningRequest", "");
    let spec = json!({
        "request": BASE64_STANDARD.encode(request),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    });
    create(&requests, json!({ "metadata": { "name": "carol" }, "spec": spec })).await;
    let approved = json!({ "type": "Approved", "status": "True", "reason": "Test" });
    let approval = Patch::Merge(json!({ "status": { "conditions": [approved] } }));
    requests
        .patch_subresource("approval", "carol", &PatchParams::default(), &approval)
        .await
        .unwrap();
    let certificate = certificate(&requests, "carol").await;
    let carol = certified(&running, &certificate, &key.serialize_pem()).await;
    let user = whoami(&carol).await.unwrap();
    assert_eq!((&user["username"], &user["groups"][0]), (&json!("carol"), &json!("people")));
    running.stop().await;
}

/// The certificate of a request, as soon as it is there.
async fn certificate(requests: &Api<DynamicObject>, name: &str) -> String {
    let params = WatchParams::default().fields(&format!("metadata.name={name}"));
    let mut events = requests.watch(&params, "0").await.unwrap().boxed();
    while let Some(event) = events.try_next().await.unwrap() {
        if let WatchEvent::Added(request) | WatchEvent::Modified(request) = event
            && let Some(certificate) = request.data["status"]["certificate"].as_str()
        {
            return String::from_utf8(BASE64_STANDARD.decode(certificate).unwrap()).unwrap();
        }
    }
    unreachable!("the watch continues")
}

#[operetta_harness::test]
async fn a_certificate_of_another_authority_is_refused_with_an_answer_unless_there_is_a_token() {
    let server = Server::builder().rbac().start();
    let running = listening(&server);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "admin");
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    let own = params.self_signed(&key).unwrap().pem();
    let stranger = certified(&running, &own, &key.serialize_pem()).await;
    assert_eq!(refusal(whoami(&stranger).await).0, 401);
    let other = listening(&Server::builder().rbac().start());
    let root = User::new("root").group("system:masters");
    let foreign = Kubeconfig::from_yaml(&other.kubeconfig_of(&root).unwrap()).unwrap();
    let user = foreign.auth_infos[0].auth_info.clone().unwrap();
    let mut kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let token = kubeconfig.auth_infos[0].auth_info.as_mut().unwrap().token.take();
    kubeconfig.auth_infos[0].auth_info = Some(user);
    assert_eq!(refusal(whoami(&client(kubeconfig.clone(), None).await).await).0, 401);
    kubeconfig.auth_infos[0].auth_info.as_mut().unwrap().token = token;
    assert_eq!(whoami(&client(kubeconfig, None).await).await.unwrap()["username"], "admin");
    running.stop().await;
    other.stop().await;
}

#[operetta_harness::test]
async fn certificates_stay_valid_over_a_restart_with_a_data_directory() {
    let folder = std::env::temp_dir().join(format!("client-certificates-{}", std::process::id()));
    let server = Server::builder().rbac().start_in(&folder).unwrap();
    let running = listening(&server);
    let kubeconfig = running.kubeconfig_of(&User::new("jane")).unwrap();
    running.stop().await;
    server.close().await;
    drop(server);
    let server = Server::builder().rbac().start_in(&folder).unwrap();
    let running = listening(&server);
    let mut kubeconfig = Kubeconfig::from_yaml(&kubeconfig).unwrap();
    let address = format!("https://{}", running.address());
    kubeconfig.clusters[0].cluster.as_mut().unwrap().server = Some(address);
    assert_eq!(whoami(&client(kubeconfig, None).await).await.unwrap()["username"], "jane");
    running.stop().await;
    server.close().await;
    std::fs::remove_dir_all(&folder).unwrap();
}
