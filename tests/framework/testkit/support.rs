//! Objects and operators of the tests.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::prelude::*;
use serde_json::{Value, json};

pub(crate) fn config() -> OperatorConfig {
    OperatorConfig::of::<ConfigMap>("cook").child::<Secret>(ChildConfig::apply())
}

pub(crate) fn config_map(name: &str, meal: &str) -> ConfigMap {
    let object = json!({"metadata": {"name": name}, "data": {"meal": meal}});
    serde_json::from_value(object).unwrap()
}

/// The meal of a parent.
pub(crate) fn meal(request: &SyncRequest<ConfigMap>) -> String {
    request.parent.data.as_ref().and_then(|data| data.get("meal")).cloned().unwrap_or_default()
}

pub(crate) fn secret(name: &str, meal: &str) -> Value {
    let metadata = json!({"name": name});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"meal": meal}})
}

/// A Secret with the meal of the parent, and its name.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
pub(crate) fn sync(request: &SyncRequest<ConfigMap>) -> Result<SyncResponse> {
    let name = request.object().name();
    Ok(SyncResponse::new().child(secret(name, &meal(request))))
}

/// The meal in a Secret.
pub(crate) fn served(secret: Option<Secret>) -> String {
    let data = secret.and_then(|secret| secret.data).unwrap_or_default();
    data.get("meal").map(|meal| String::from_utf8(meal.0.clone()).unwrap()).unwrap_or_default()
}
