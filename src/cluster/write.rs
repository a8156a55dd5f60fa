//! Writes to the API server: apply, delete, merge patch; and the live reads before and after.

use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cluster, api::ApiRequest};
use crate::{
    object::{K8sType, Object, ObjectKey, ResourceVersion, Uid},
    operator::Propagation,
    plan::ChildId,
    reply::{ApiError, Deleted, ErrorClass},
    run::{DryRun, Force},
};

#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: OutlineMetadata,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct OutlineMetadata {
    #[serde(default)]
    deletion_timestamp: Option<String>,
}

impl Cluster {
    /// Reads an object from the API server, not from a cache; `None` if it does not exist.
    pub(crate) async fn read(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
    ) -> Result<Option<Object>, ApiError> {
        let (name, answer) = self.get(ty, key).await?;
        answer.map(|answer| self.parse(&name, ty, &answer)).transpose()
    }

    pub(crate) async fn read_whole(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
    ) -> Result<Option<Value>, ApiError> {
        let (request, answer) = self.get(ty, key).await?;
        let malformed = |error| ApiError::malformed(request, &error);
        answer.map(|answer| serde_json::from_slice(&answer).map_err(malformed)).transpose()
    }

    /// Returns the name of the request, and the answer unless the object does not exist.
    async fn get(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
    ) -> Result<(String, Option<Bytes>), ApiError> {
        let request = ApiRequest::get("get", ty, ty.object_path(key));
        let name = request.name();
        match self.send(request).await {
            Ok(answer) => Ok((name, Some(answer))),
            Err(error) if error.class() == ErrorClass::Missing => Ok((name, None)),
            Err(error) => Err(error),
        }
    }

    /// Applies the fields of `body` as `manager`.
    ///
    /// `body.metadata` decides whether it creates or updates: a `resourceVersion` of `"1"` only creates,
    /// a `uid` only updates that very object. Without force the answer is 409 and nothing is written if another
    /// manager owns a field with another value.
    pub(crate) async fn apply(
        &self,
        ChildId { ty, key }: &ChildId,
        manager: &str,
        body: &Value,
        (force, dry_run): (Force, DryRun),
    ) -> Result<Object, ApiError> {
        let mut request = patch(ty, ty.object_path(key), "application/apply-patch+yaml", body)
            .with_query("fieldManager", manager);
        if dry_run != DryRun::No {
            request = request.with_query("dryRun", "All");
        }
        if force == Force::Yes || dry_run == DryRun::OfNew {
            request = request.with_query("force", "true");
        }
        let written = match dry_run {
            DryRun::No | DryRun::Yes => self.write(request).await,
            DryRun::OfNew => self.try_create(request).await,
        };
        match written {
            Err(error) => Err(self.with_transition_rules(ty, error).await),
            written => written,
        }
    }

    /// Applies status fields as `manager`. `body.metadata` has the version of the object.
    pub(crate) async fn apply_status(
        &self,
        ChildId { ty, key }: &ChildId,
        manager: &str,
        body: &Value,
        force: Force,
    ) -> Result<Object, ApiError> {
        let path = format!("{}/status", ty.object_path(key));
        let mut request = patch(ty, path, "application/apply-patch+yaml", body)
            .with_query("fieldManager", manager);
        if force == Force::Yes {
            request = request.with_query("force", "true");
        }
        self.write(request).await
    }

    /// The object gets version zero, because a server gives none.
    async fn try_create(&self, request: ApiRequest<'_>) -> Result<Object, ApiError> {
        let (name, ty) = (request.name(), request.ty);
        let answer = self.send(request).await?;
        let mut object: Value = serde_json::from_slice(&answer)
            .map_err(|error| ApiError::malformed(name.clone(), &error))?;
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("resourceVersion".to_owned(), "0".into());
        }
        self.parse(&name, ty, object.to_string().as_bytes())
    }

    pub(crate) async fn patch_status(
        &self,
        ChildId { ty, key }: &ChildId,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.merge(ty, format!("{}/status", ty.object_path(key)), manager, body).await
    }

    /// Scales exactly this version of an object.
    pub(crate) async fn scale(
        &self,
        ChildId { ty, key }: &ChildId,
        manager: &str,
        version: &ResourceVersion,
        replicas: i32,
    ) -> Result<(), ApiError> {
        let body = json!({
            "metadata": {"resourceVersion": version.to_string()}, "spec": {"replicas": replicas},
        });
        let path = format!("{}/scale", ty.object_path(key));
        let request = patch(ty, path, "application/merge-patch+json", &body)
            .with_query("fieldManager", manager);
        // The answer is a Scale, of which nothing is cached.
        self.send(request).await.map(drop)
    }

    pub(crate) async fn patch_object(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.merge(ty, ty.object_path(key), manager, body).await
    }

    /// Deletes exactly this version of this object.
    pub(crate) async fn delete(
        &self,
        ChildId { ty, key }: &ChildId,
        (uid, version): (&Uid, &ResourceVersion),
        propagation: Propagation,
    ) -> Result<Deleted, ApiError> {
        let propagation = match propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {"uid": uid, "resourceVersion": version.to_string()},
        });
        let mut request = ApiRequest::get("delete", ty, ty.object_path(key));
        request.method = Method::DELETE;
        request.body = options.to_string().into_bytes();
        let name = request.name();
        let answer = self.send(request).await?;
        // The answer to a final delete is a Status or, for some types, the object as it was.
        match serde_json::from_slice(&answer) {
            Ok(Outline { kind, metadata })
                if kind != "Status" && metadata.deletion_timestamp.is_some() =>
            {
                let object = self.parse(&name, ty, &answer)?;
                // A Pod without a node is gone at once, but is answered in the same way.
                Ok(if object.has_ended() { Deleted::Gone } else { Deleted::Terminating(object) })
            }
            Ok(_) => Ok(Deleted::Gone),
            Err(error) => Err(ApiError::malformed(name, &error)),
        }
    }

    async fn merge(
        &self,
        ty: &K8sType,
        path: String,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        let request = patch(ty, path, "application/merge-patch+json", body)
            .with_query("fieldManager", manager);
        self.write(request).await
    }

    async fn write(&self, request: ApiRequest<'_>) -> Result<Object, ApiError> {
        let (name, ty) = (request.name(), request.ty);
        let answer = self.send(request).await?;
        self.parse(&name, ty, &answer)
    }
}

pub(super) fn patch<'a>(
    ty: &'a K8sType,
    path: String,
    content_type: &'static str,
    body: &Value,
) -> ApiRequest<'a> {
    let mut request = ApiRequest::get("patch", ty, path);
    request.method = Method::PATCH;
    request.content_type = content_type;
    request.body = escaped(body.to_string()).into_bytes();
    request
}

/// Escapes what servers would misread, as they parse an apply as YAML: it refuses control characters
/// that JSON allows and folds line breaks that JSON does not know. In JSON both occur only in strings.
fn escaped(json: String) -> String {
    let is_special = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
    };
    if !json.contains(is_special) {
        return json;
    }
    let escape = |c: char| format!("\\u{:04x}", u32::from(c));
    json.chars().map(|c| if is_special(c) { escape(c) } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_yaml_refuses_or_folds_are_escaped_without_a_change_of_value() {
        let special =
            json!({"k": "\u{7f}\u{85}\u{9f}\u{2028}\u{2029}\u{ffff} \u{e9}\u{10ffff}\"\n"});
        let text = escaped(special.to_string());
        assert!(text.contains("\\u007f\\u0085\\u009f\\u2028\\u2029\\uffff \u{e9}\u{10ffff}"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), special);
        let plain = json!({"k": "plain"}).to_string();
        assert_eq!(escaped(plain.clone()), plain);
    }
}
