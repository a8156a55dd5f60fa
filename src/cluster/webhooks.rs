//! Applies what lets the API server call the webhooks of this process.

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
    core::gvk::{GroupVersionKind, ParseGroupVersionError},
};
use serde_json::Value;

use crate::manifests::WEBHOOK_MANAGER;

/// Who applies the YAML of a CRD owns its other fields.
pub(super) const MANAGER: &str = WEBHOOK_MANAGER;

/// An object cannot be applied.
#[derive(Debug, thiserror::Error)]
#[error(
    "{kind} {name} cannot be applied, so that the API server would not call the webhooks: {why}"
)]
pub(crate) struct WebhookApplyError {
    kind: String,
    name: String,
    why: String,
}

pub(crate) async fn apply_webhooks(
    client: &Client,
    objects: &[Value],
) -> Result<(), WebhookApplyError> {
    for object in objects {
        apply(client, object).await.map_err(|why| WebhookApplyError {
            kind: text(&object["kind"]),
            name: text(&object["metadata"]["name"]),
            why,
        })?;
    }
    Ok(())
}

async fn apply(client: &Client, object: &Value) -> Result<(), String> {
    let resource = resource(object).map_err(|error| error.to_string())?;
    let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
    let params = PatchParams::apply(MANAGER).force();
    let applied =
        api.patch(&text(&object["metadata"]["name"]), &params, &Patch::Apply(object)).await;
    match applied {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) => Err(status.message.clone()),
        Err(error) => Err(error.to_string()),
    }
}

fn resource(object: &Value) -> Result<ApiResource, ParseGroupVersionError> {
    let version = text(&object["apiVersion"]).parse::<kube::core::GroupVersion>()?;
    let kind = text(&object["kind"]);
    let kind = GroupVersionKind::gvk(&version.group, &version.version, &kind);
    Ok(ApiResource::from_gvk(&kind))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
