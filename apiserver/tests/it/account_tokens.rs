//! Tokens of service accounts: what is issued, whom a token proves to be, and when it does no more.
//!
//! The errors are those of the real server, from which they were recorded.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{Method, Request, header};
use http_body_util::BodyExt;
use kube::{
    Client, Config,
    api::{DeleteParams, DynamicObject, ListParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta_apiserver::{Running, Server};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::common::{api, config_maps, create, refusal};

const AUDIENCE: &str = "https://kubernetes.default.svc";
const ACCOUNT: &str = "system:serviceaccount:default:robot";

async fn send(server: &Server, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let request = request.body(bytes::Bytes::from(body.to_string())).unwrap();
    let response = server.handle(request).await;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

/// The token that a request with this spec is answered with.
async fn token(server: &Server, spec: Value) -> String {
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let (code, answer) = send(server, Method::POST, path, &json!({ "spec": spec })).await;
    assert_eq!(code, 201, "{answer}");
    answer["status"]["token"].as_str().unwrap().to_owned()
}

/// The status of a review.
async fn review(server: &Server, token: &str, audiences: &[&str]) -> Value {
    let spec = json!({ "token": token, "audiences": audiences });
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    send(server, Method::POST, path, &json!({ "spec": spec })).await.1["status"].take()
}

/// Why a token is not accepted.
async fn fault(server: &Server, token: &str) -> String {
    let status = review(server, token, &[]).await;
    assert_eq!(status["authenticated"], Value::Null, "{status}");
    status["error"].as_str().unwrap().to_owned()
}

fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

async fn account(client: &Client) -> String {
    let accounts = api(client, "v1", "ServiceAccount", "default");
    create(&accounts, json!({ "metadata": { "name": "robot" } })).await.metadata.uid.unwrap()
}

/// A server with the service account, and its uid.
async fn with_account() -> (Server, Client, String) {
    let server = Server::builder().rbac().start();
    let client = server.client();
    let uid = account(&client).await;
    (server, client, uid)
}

/// A client with a token.
async fn client_with(running: &Running, token: &str) -> Client {
    let mut kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let user = kubeconfig.auth_infos[0].auth_info.as_mut().unwrap();
    user.token = Some(token.to_owned().into());
    // It counts before a token.
    (user.client_certificate_data, user.client_key_data) = (None, None);
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    Client::try_from(config).unwrap()
}

#[operetta_harness::test]
async fn a_token_says_whose_it_is_and_the_published_key_verifies_it() {
    let (server, _, uid) = with_account().await;
    let token = token(&server, json!({ "audiences": ["a"], "expirationSeconds": 700 })).await;
    let claims = claims(&token);
    let issued = claims["iat"].as_i64().unwrap();
    let expected = json!({
        "aud": ["a"], "iss": AUDIENCE, "sub": ACCOUNT, "jti": claims["jti"],
        "iat": issued, "nbf": issued, "exp": issued + 700,
        "kubernetes.io": {
            "namespace": "default", "serviceaccount": { "name": "robot", "uid": uid },
        },
    });
    assert_eq!(claims, expected);
    let keys = Request::get("/openid/v1/jwks").body(bytes::Bytes::new()).unwrap();
    let keys = server.handle(keys).await.into_body().collect().await.unwrap().to_bytes();
    let keys: Value = serde_json::from_slice(&keys).unwrap();
    let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).unwrap();
    let [x, y] = ["x", "y"].map(|it| decode(keys["keys"][0][it].as_str().unwrap()));
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, [vec![4], x, y].concat());
    key.verify(signed.as_bytes(), &decode(signature)).unwrap();
}

#[operetta_harness::test]
async fn a_token_is_accepted_as_its_service_account_which_may_do_what_is_bound_to_it() {
    let (server, admin, _) = with_account().await;
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let robot = client_with(&running, &token(&server, json!({})).await).await;
    let (code, _, message) = refusal(config_maps(&robot).list(&ListParams::default()).await);
    assert_eq!(code, 403);
    assert!(message.contains(&format!("User \"{ACCOUNT}\" cannot list")), "{message}");
    let bindings = api(&admin, "rbac.authorization.k8s.io/v1", "RoleBinding", "default");
    let binding = json!({
        "metadata": { "name": "robot" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": [{ "kind": "ServiceAccount", "name": "robot", "namespace": "default" }],
    });
    create(&bindings, binding).await;
    config_maps(&robot).list(&ListParams::default()).await.unwrap();
    let stranger =
        client_with(&running, &token(&server, json!({ "audiences": ["a"] })).await).await;
    assert_eq!(refusal(config_maps(&stranger).list(&ListParams::default()).await).0, 401);
    let accounts = api(&admin, "v1", "ServiceAccount", "default");
    accounts.delete("robot", &DeleteParams::default()).await.unwrap();
    assert_eq!(refusal(config_maps(&robot).list(&ListParams::default()).await).0, 401);
    running.stop().await;
}

#[operetta_harness::test]
async fn a_review_names_the_user_and_the_audiences_of_a_token() {
    let (server, _, uid) = with_account().await;
    let token = token(&server, json!({ "audiences": ["a", "b"] })).await;
    let groups =
        ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
    let id = format!("JTI={}", claims(&token)["jti"].as_str().unwrap());
    let expected = json!({
        "authenticated": true,
        "audiences": ["b"],
        "user": {
            "username": ACCOUNT, "uid": uid, "groups": groups,
            "extra": { "authentication.kubernetes.io/credential-id": [id] },
        },
    });
    assert_eq!(review(&server, &token, &["c", "b"]).await, expected);
    let expected = "[invalid bearer token, token audiences [\"a\" \"b\"] is invalid for the target \
                    audiences [\"https://kubernetes.default.svc\"]]";
    assert_eq!(fault(&server, &token).await, expected);
}

#[operetta_harness::test(paused)]
async fn a_token_expires() {
    let (server, _, _) = with_account().await;
    let token = token(&server, json!({ "expirationSeconds": 600 })).await;
    tokio::time::advance(Duration::from_mins(10)).await;
    assert_eq!(review(&server, &token, &[]).await["authenticated"], true);
    // The clocks of clients may be a minute apart.
    tokio::time::advance(Duration::from_secs(62)).await;
    let expected = "[invalid bearer token, service account token has expired]";
    assert_eq!(fault(&server, &token).await, expected);
}

#[operetta_harness::test]
async fn a_token_of_a_deleted_or_another_service_account_is_refused() {
    let (server, client, uid) = with_account().await;
    let token = token(&server, json!({})).await;
    let accounts = api(&client, "v1", "ServiceAccount", "default");
    accounts.delete("robot", &DeleteParams::default()).await.unwrap();
    let expected = "[invalid bearer token, serviceaccounts \"robot\" not found]";
    assert_eq!(fault(&server, &token).await, expected);
    let other = account(&client).await;
    let expected = format!(
        "[invalid bearer token, service account UID ({other}) does not match claim ({uid})]"
    );
    assert_eq!(fault(&server, &token).await, expected);
}

#[operetta_harness::test]
async fn a_token_ends_with_the_object_that_it_is_bound_to() {
    let (server, client, _) = with_account().await;
    let container = json!({ "name": "a", "image": "a" });
    let pod = json!({ "serviceAccountName": "robot", "nodeName": "n", "containers": [container] });
    for (kind, namespace, spec) in
        [("Secret", "default", Value::Null), ("Node", "", Value::Null), ("Pod", "default", pod)]
    {
        let objects = api(&client, "v1", kind, namespace);
        let mut object = json!({ "metadata": { "name": "n" } });
        if !spec.is_null() {
            object["spec"] = spec;
        }
        let made = |object: DynamicObject| object.metadata.uid.unwrap();
        let before = made(create(&objects, object.clone()).await);
        let bound = json!({ "kind": kind, "apiVersion": "v1", "name": "n", "uid": before });
        let token = token(&server, json!({ "boundObjectRef": bound })).await;
        assert_eq!(review(&server, &token, &[]).await["authenticated"], true, "{kind}");
        let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
        objects.delete("n", &now).await.unwrap();
        let expected = "[invalid bearer token, service account token has been invalidated]";
        assert_eq!(fault(&server, &token).await, expected, "{kind}");
        let after = made(create(&objects, object).await);
        let word = kind.to_lowercase();
        let expected = format!(
            "[invalid bearer token, {kind} UID ({after}) does not match service account {word} ref claim \
             ({before})]"
        );
        assert_eq!(fault(&server, &token).await, expected);
    }
}

#[operetta_harness::test]
async fn the_token_of_a_pod_names_the_pod_and_its_node() {
    let (server, client, _) = with_account().await;
    let spec = json!({
        "serviceAccountName": "robot", "nodeName": "n",
        "containers": [{ "name": "a", "image": "a" }],
    });
    let pods = api(&client, "v1", "Pod", "default");
    let pod = create(&pods, json!({ "metadata": { "name": "p" }, "spec": spec })).await;
    let bound = json!({ "kind": "Pod", "apiVersion": "v1", "name": "p" });
    // The number of seconds that kubelets ask for.
    let spec = json!({ "boundObjectRef": bound, "expirationSeconds": 3607 });
    let token = token(&server, spec).await;
    let claims = claims(&token);
    let expected = json!({ "name": "p", "uid": pod.metadata.uid });
    assert_eq!(claims["kubernetes.io"]["pod"], expected);
    assert_eq!(claims["kubernetes.io"]["node"], json!({ "name": "n" }));
    let seconds = |value: &Value| value.as_i64().unwrap() - claims["iat"].as_i64().unwrap();
    assert_eq!(seconds(&claims["kubernetes.io"]["warnafter"]), 3607);
    assert_eq!(seconds(&claims["exp"]), 365 * 24 * 3600);
    let extra = &review(&server, &token, &[]).await["user"]["extra"];
    let name = |what: &str| extra[format!("authentication.kubernetes.io/{what}")][0].clone();
    assert_eq!([name("pod-name"), name("node-name")], ["p", "n"]);
    assert_eq!(name("pod-uid"), json!(pod.metadata.uid));
}

#[operetta_harness::test]
async fn no_token_is_accepted_that_the_server_did_not_sign() {
    let (server, _, _) = with_account().await;
    let token = token(&server, json!({})).await;
    let parts: Vec<&str> = token.split('.').collect();
    let encoded = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let header = |value: Value| format!("{}.{}.{}", encoded(value), parts[1], parts[2]);
    let mut stronger = claims(&token);
    stronger["sub"] = json!("system:serviceaccount:kube-system:robot");
    let crypto = "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]";
    for (token, expected) in [
        (format!("{}.{}.{}", parts[0], encoded(stronger), parts[2]), crypto),
        (header(json!({ "alg": "none" })), crypto),
        (header(json!({ "alg": "HS256" })), crypto),
        (
            header(json!({ "alg": "ES256", "kid": "other" })),
            "[invalid bearer token, invalid signature, no keys found]",
        ),
        (format!("{token}.x"), "invalid bearer token"),
        (format!("{}.{}.x", parts[0], encoded(json!({ "iss": "other" }))), "invalid bearer token"),
        ("a.b.c".to_owned(), "invalid bearer token"),
    ] {
        assert_eq!(fault(&server, &token).await, expected, "{token}");
    }
    let other = Server::start();
    account(&other.client()).await;
    let expected = "[invalid bearer token, invalid signature, no keys found]";
    assert_eq!(fault(&other, &token).await, expected);
}

#[operetta_harness::test]
async fn a_request_for_another_account_of_that_name_is_refused() {
    let (server, _, uid) = with_account().await;
    let path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let body = json!({ "metadata": { "uid": "other" } });
    let (code, status) = send(&server, Method::POST, path, &body).await;
    let expected = format!(
        "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"robot\": the UID in the token \
         request (other) does not match the UID of the service account ({uid})"
    );
    assert_eq!((code, &status["message"]), (409, &json!(expected)));
}

#[operetta_harness::test]
async fn tokens_stay_valid_over_a_restart_with_a_data_directory() {
    let folder = std::env::temp_dir().join(format!("account-tokens-{}", std::process::id()));
    let start = || Server::builder().start_in(&folder).unwrap();
    let server = start();
    account(&server.client()).await;
    let token = token(&server, json!({})).await;
    server.close().await;
    let again = start();
    assert_eq!(review(&again, &token, &[]).await["authenticated"], true);
    again.close().await;
    std::fs::remove_dir_all(&folder).unwrap();
}
