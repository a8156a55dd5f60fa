//! What admission handlers answer, and what clients see of it.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use operetta::{
    operator::admission::{Admission, AdmissionRequest, Operation, Webhook},
    prelude::*,
};

use super::*;
use crate::recipe::config_map;

fn no_salt(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    let data = request.subject().data.clone().unwrap_or_default();
    Ok(match data.get("salt").map(String::as_str) {
        Some("much") if request.operation != Operation::Delete => {
            Admission::invalid("data.salt", "too much")
        }
        Some("kept") if request.operation == Operation::Delete => {
            let who = &request.user.username;
            Admission::deny(
                operetta::operator::admission::DenialReason::Forbidden,
                format!("{who} may not"),
            )
        }
        Some("fail") => return Err(anyhow::anyhow!("no oven")),
        Some(_) => Admission::allow().warn("salt is not healthy"),
        None => Admission::allow(),
    })
}

async fn pepper(
    request: AdmissionRequest<ConfigMap>,
    mut object: ConfigMap,
) -> Result<(ConfigMap, Admission)> {
    if request.operation == Operation::Create && !request.dry_run {
        object.data.get_or_insert_default().insert("pepper".to_owned(), "little".to_owned());
    }
    Ok((object, Admission::allow()))
}

/// Waits until the API server asks: a configuration takes effect some time after it was written.
async fn until_asked(answering: &Answering) {
    let probe = || async {
        let much = object(CONFIG_MAP, config_map("probe", json!({"salt": "much"})));
        let params = PostParams { dry_run: true, ..<_>::default() };
        answering.world.api(CONFIG_MAP).create(&params, &much).await.is_err()
    };
    eventually("a webhook that denies", probe, |denies| *denies).await;
}

async fn create(
    api: &Api<DynamicObject>,
    name: &str,
    data: Value,
) -> Result<Value, kube::core::Status> {
    match api.create(&PostParams::default(), &object(CONFIG_MAP, config_map(name, data))).await {
        Ok(object) => Ok(serde_json::to_value(object).unwrap()),
        Err(kube::Error::Api(status)) => Err(*status),
        Err(error) => panic!("{error}"),
    }
}

#[operetta_harness::test(server)]
async fn a_denial_reads_like_one_of_the_api_server() {
    let answering = Answering::start(vec![Webhook::validate("no-salt", no_salt)]).await;
    until_asked(&answering).await;
    let api = answering.world.api(CONFIG_MAP);
    let denied = create(&api, "a", json!({"salt": "much"})).await.unwrap_err();
    assert_eq!((denied.code, denied.reason.as_str()), (422, "Invalid"));
    assert_eq!(
        denied.message,
        "admission webhook \"no-salt.configmaps.core\" denied the request: data.salt: too much"
    );
    let causes = denied.details.unwrap().causes;
    assert_eq!(causes[0].field, "data.salt");
    assert!(create(&api, "a", json!({"sugar": "much"})).await.is_ok());

    // By whichever verb an object is changed.
    let much = json!({"data": {"salt": "much"}});
    let patched = api.patch("a", &PatchParams::default(), &Patch::Merge(&much)).await;
    assert!(patched.unwrap_err().to_string().contains("data.salt: too much"));
    let applied = object(CONFIG_MAP, config_map("a", json!({"salt": "much"})));
    let forced = PatchParams::apply("by-hand").force();
    assert!(api.patch("a", &forced, &Patch::Apply(&applied)).await.is_err());
    answering.stop().await;
}

#[operetta_harness::test(server)]
async fn a_deletion_is_denied_by_who_asks() {
    let answering = Answering::start(vec![Webhook::validate("no-salt", no_salt)]).await;
    until_asked(&answering).await;
    let api = answering.world.api(CONFIG_MAP);
    create(&api, "kept", json!({"salt": "kept"})).await.unwrap();
    let Err(kube::Error::Api(denied)) = api.delete("kept", &DeleteParams::default()).await else {
        panic!("it was deleted");
    };
    assert_eq!(denied.code, 403);
    assert!(denied.message.ends_with(" may not"), "{}", denied.message);
    answering.stop().await;
}

#[operetta_harness::test(server)]
async fn a_handler_that_fails_is_decided_by_the_failure_policy() {
    let webhook = Webhook::validate("no-salt", no_salt);
    let answering = Answering::start(vec![webhook.clone()]).await;
    until_asked(&answering).await;
    let api = answering.world.api(CONFIG_MAP);
    let failed = create(&api, "a", json!({"salt": "fail"})).await.unwrap_err();
    assert_eq!(failed.code, 500);
    assert!(
        failed.message.contains("the handler failed: the log of the operator"),
        "{}",
        failed.message
    );
    assert!(!failed.message.contains("oven"), "{}", failed.message);
    answering.configure(&webhook, json!({"failurePolicy": "Ignore"})).await;
    let passes = || async { create(&api, "a", json!({"salt": "fail"})).await.is_ok() };
    eventually("a failure that is ignored", passes, |passes| *passes).await;
    answering.stop().await;
}

#[operetta_harness::test(server)]
async fn a_mutation_is_stored_and_what_the_rust_type_does_not_know_stays() {
    let webhooks = vec![Webhook::validate("no-salt", no_salt), Webhook::mutate("pepper", pepper)];
    let answering = Answering::start(webhooks).await;
    until_asked(&answering).await;
    let api = answering.world.api(CONFIG_MAP);
    let seasoned = || async {
        let _ = api.delete("a", &DeleteParams::default()).await;
        create(&api, "a", json!({"salt": "little"})).await.unwrap_or_default()
    };
    let made =
        eventually("a mutated object", seasoned, |it| it["data"]["pepper"] == "little").await;
    assert_eq!(made["data"]["salt"], "little");
    answering.stop().await;
}

/// A `ConfigMap` names an `EchoServer` of its namespace.
fn of_a_server(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    let data = request.subject().data.clone().unwrap_or_default();
    let Some(server) = data.get("server") else { return Ok(Admission::allow()) };
    let namespace = request.key.namespace.as_deref().unwrap_or_default();
    let found = request.stores.get_object((ECHO.0, ECHO.1), (namespace, server.as_str()))?;
    Ok(match found {
        Some(_) => Admission::allow(),
        None => Admission::invalid("data.server", format!("there is no EchoServer {server}")),
    })
}

#[operetta_harness::test(server)]
async fn a_handler_reads_the_caches_of_the_operators() {
    let webhook = Webhook::validate("of-a-server", of_a_server);
    let answering = Answering::start(vec![webhook]).await;
    let api = answering.world.api(CONFIG_MAP);
    let missing = || async {
        let _ = api.delete("a", &DeleteParams::default()).await;
        create(&api, "a", json!({"server": "hello"})).await.err().map(|it| it.message)
    };
    let denied = eventually("a denial", missing, Option::is_some).await.unwrap();
    assert!(denied.ends_with("data.server: there is no EchoServer hello"), "{denied}");
    let hello = json!({"metadata": {"name": "hello"}, "spec": {"serviceName": "hello"}});
    answering.world.apply(ECHO, hello).await;
    // Until the cache has it.
    let named = || async { create(&api, "a", json!({"server": "hello"})).await.is_ok() };
    eventually("an object that names it", named, |is_stored| *is_stored).await;
    answering.stop().await;
}
