//! Handlers of each form, called as the framework calls them.

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

use super::*;
use crate::{object::ObjectKey, operator::admission::Operation};

fn key() -> ObjectKey {
    ObjectKey::namespaced("ns", "a")
}

fn config_map(salt: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "xUnknown": 1},
        "data": {"salt": salt}, "xUnknown": {"kept": true},
    })
}

async fn answer(handler: form::Erased, request: AdmissionRequest) -> Answered {
    match handler.into_inner().call(request) {
        Call::Blocking(call) => call().unwrap(),
        Call::Async(call) => call.await.unwrap(),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn validate(request: &AdmissionRequest<ConfigMap>) -> Result<Admission> {
    let data = request.subject().data.as_ref();
    Ok(match data.and_then(|data| data.get("salt")).map(String::as_str) {
        Some("much") => Admission::invalid("data.salt", "too much"),
        _ => Admission::allow(),
    })
}

async fn validate_async(request: AdmissionRequest<ConfigMap>) -> Result<Admission> {
    validate(&request)
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn mutate(request: &AdmissionRequest<ConfigMap>, object: &mut ConfigMap) -> Result<Admission> {
    let data = object.data.get_or_insert_default();
    data.insert("by".to_owned(), request.user.username.clone());
    Ok(Admission::allow().warn("salted"))
}

async fn mutate_async(
    request: AdmissionRequest<ConfigMap>,
    mut object: ConfigMap,
) -> Result<(ConfigMap, Admission)> {
    let admission = mutate(&request, &mut object)?;
    Ok((object, admission))
}

#[tokio::test]
async fn blocking_and_asynchronous_handlers_validate_alike() {
    for (salt, is_allowed) in [("much", false), ("little", true)] {
        let request = || AdmissionRequest::create(key(), config_map(salt));
        let blocking = answer(validate.into_validator(), request()).await;
        let asynchronous = answer(validate_async.into_validator(), request()).await;
        assert_eq!(blocking.admission.is_allowed(), is_allowed);
        assert_eq!(blocking.admission, asynchronous.admission);
        assert_eq!(blocking.object, None);
    }
}

#[tokio::test]
async fn blocking_and_asynchronous_handlers_mutate_alike_and_keep_what_they_do_not_know() {
    let request = || AdmissionRequest::create(key(), config_map("little")).by("ada");
    let blocking = answer(mutate.into_mutator(), request()).await;
    let asynchronous = answer(mutate_async.into_mutator(), request()).await;
    let mut expected = config_map("little");
    expected["data"]["by"] = json!("ada");
    for answered in [blocking, asynchronous] {
        assert_eq!(answered.object, Some(expected.clone()));
        assert_eq!(answered.admission.warnings().collect::<Vec<_>>(), ["salted"]);
    }
}

#[tokio::test]
async fn a_handler_gets_json_where_it_asks_for_it() {
    let handler = |request: &AdmissionRequest| -> Result<Admission> {
        assert_eq!(request.operation, Operation::Update);
        let changed = request.object.as_ref() != request.old.as_ref();
        Ok(if changed { Admission::allow() } else { Admission::allow().warn("nothing changed") })
    };
    let same = AdmissionRequest::update(key(), config_map("a"), config_map("a"));
    let answered = answer(handler.into_validator(), same).await;
    assert_eq!(answered.admission.warnings().count(), 1);
}

#[tokio::test]
async fn an_object_that_does_not_fit_the_type_is_denied_with_its_field() {
    let mut odd = config_map("a");
    odd["data"]["salt"] = json!(7);
    for handler in [validate.into_validator(), mutate.into_mutator()] {
        let answered = answer(handler, AdmissionRequest::create(key(), odd.clone())).await;
        let message = answered.admission.denial().unwrap();
        assert!(message.starts_with("data.salt: invalid type: integer"), "{message}");
    }
}

#[tokio::test]
async fn a_deletion_has_no_object_that_could_be_changed() {
    let request = AdmissionRequest::delete(key(), config_map("much"));
    let mutated = answer(mutate.into_mutator(), request.clone()).await;
    assert_eq!((mutated.object, mutated.admission), (None, Admission::allow()));
    let validated = answer(validate.into_validator(), request).await;
    assert!(!validated.admission.is_allowed(), "of the old object");
}
