//! Checks that a mutation changes an object once.

use serde::Serialize;
use serde_json::Value;

use crate::operator::admission::{AdmissionRequest, Answered, Call, Webhook};

/// Calls a mutating webhook, then again with what it returned, checks that the second call changes nothing, and returns the
/// object; `None` of a denial, and of a deletion.
///
/// The API server may call a webhook again for the same request, and does so for each later change: a mutation that
/// changes its own result would change the object with each of them.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::{
///     operator::admission::{Admission, AdmissionRequest, Webhook},
///     prelude::*,
///     testkit::assert_idempotent_mutation,
/// };
///
/// fn pepper(_: &AdmissionRequest<ConfigMap>, object: &mut ConfigMap) -> Result<Admission> {
///     object.data.get_or_insert_default().entry("pepper".to_owned()).or_default();
///     Ok(Admission::allow())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let webhook = Webhook::mutate("pepper", pepper);
/// let key = operetta::object::ObjectKey::namespaced("ns", "a");
/// let request = AdmissionRequest::create(key, ConfigMap::default());
/// let object = assert_idempotent_mutation(&webhook, request).await?;
/// assert_eq!(object.unwrap()["data"]["pepper"], "");
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// The second call changes the object, or denies it. It names the paths.
///
/// # Errors
/// The error of the handler.
pub async fn assert_idempotent_mutation<T: Serialize>(
    webhook: &Webhook,
    request: AdmissionRequest<T>,
) -> anyhow::Result<Option<Value>> {
    let request = request.map(serde_json::to_value)?;
    let Answered { admission, object } = called(webhook, request.clone()).await?;
    let Some(object) = object.filter(|_| admission.is_allowed()) else { return Ok(None) };
    let again = AdmissionRequest { object: Some(object.clone()), ..request };
    let Answered { admission, object: second } = called(webhook, again).await?;
    assert!(admission.is_allowed(), "{} denies what it returned: {admission:?}", webhook.name());
    let changed = json_patch::diff(&object, &second.unwrap_or_else(|| object.clone())).0;
    let paths: Vec<String> = changed.iter().map(|it| it.path().to_string()).collect();
    assert!(paths.is_empty(), "{} changes what it returned: {}", webhook.name(), paths.join(", "));
    Ok(Some(object))
}

async fn called(webhook: &Webhook, request: AdmissionRequest) -> anyhow::Result<Answered> {
    match webhook.handler.clone().call(request) {
        Call::Blocking(call) => call(),
        Call::Async(call) => call.await,
    }
}
