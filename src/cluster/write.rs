//! Writing to the API server: apply, delete, merge patch, and the live read before and after.

use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cluster, api::ApiRequest};
use crate::{
    object::{K8sType, Object, ObjectKey, ResourceVersion, Uid},
    operator::Propagation,
    reply::{ApiError, Deleted, ErrorClass},
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
    pub async fn read(&self, ty: &K8sType, key: &ObjectKey) -> Result<Option<Object>, ApiError> {
        let (name, answer) = self.get(ty, key).await?;
        answer.map(|answer| self.parse(&name, ty, &answer)).transpose()
    }

    /// The same with every field as the server has it, nothing left out for the cache.
    pub async fn read_whole(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
    ) -> Result<Option<Value>, ApiError> {
        let (request, answer) = self.get(ty, key).await?;
        let malformed = |error| ApiError::malformed(request, &error);
        answer.map(|answer| serde_json::from_slice(&answer).map_err(malformed)).transpose()
    }

    /// The name of the request, and the answer unless the object does not exist.
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

    /// Applies the fields of `body` as `manager`, taking them from others.
    ///
    /// Whether it creates or updates is up to `body.metadata`: a `resourceVersion` of `"1"` only
    /// creates, a `uid` only updates that very object.
    pub async fn apply(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.write(apply(ty, key, manager, body).with_query("force", "true")).await
    }

    /// The same without force: a field that another manager holds with another value is answered
    /// 409, and nothing is written.
    pub async fn apply_yielding(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.write(apply(ty, key, manager, body)).await
    }

    /// What [`Cluster::apply`] would answer; nothing is written.
    pub async fn try_apply(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.write(trial(ty, key, manager, body).with_query("force", "true")).await
    }

    /// What it would answer where there is no such object; nothing is written. What was never stored
    /// has no version: here it has zero.
    pub async fn try_create(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        let request = trial(ty, key, manager, body).with_query("force", "true");
        let name = request.name();
        let answer = self.send(request).await?;
        let mut object: Value = serde_json::from_slice(&answer)
            .map_err(|error| ApiError::malformed(name.clone(), &error))?;
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("resourceVersion".to_owned(), "0".into());
        }
        self.parse(&name, ty, object.to_string().as_bytes())
    }

    /// What [`Cluster::apply_yielding`] would answer; nothing is written.
    pub async fn try_apply_yielding(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.write(trial(ty, key, manager, body)).await
    }

    /// Sends a JSON merge patch for the status.
    pub async fn patch_status(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.merge(ty, format!("{}/status", ty.object_path(key)), manager, body).await
    }

    /// Sends a JSON merge patch for the object itself.
    pub async fn patch_object(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        manager: &str,
        body: &Value,
    ) -> Result<Object, ApiError> {
        self.merge(ty, ty.object_path(key), manager, body).await
    }

    /// Deletes exactly this version of this object.
    pub async fn delete(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
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
        // A final delete answers with a Status, or (for some types) with the object as it was.
        match serde_json::from_slice(&answer) {
            Ok(Outline { kind, metadata })
                if kind != "Status" && metadata.deletion_timestamp.is_some() =>
            {
                let object = self.parse(&name, ty, &answer)?;
                // So it is told of a Pod too that no node has, which is gone at once.
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

fn apply<'a>(ty: &'a K8sType, key: &ObjectKey, manager: &str, body: &Value) -> ApiRequest<'a> {
    patch(ty, ty.object_path(key), "application/apply-patch+yaml", body)
        .with_query("fieldManager", manager)
}

/// An apply that is only tried.
fn trial<'a>(ty: &'a K8sType, key: &ObjectKey, manager: &str, body: &Value) -> ApiRequest<'a> {
    apply(ty, key, manager, body).with_query("dryRun", "All")
}

fn patch<'a>(
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

/// An apply is read as YAML, which refuses control characters that JSON allows, and folds line
/// breaks that JSON does not know: what is escaped is read as it is meant. In JSON they can stand
/// in strings only.
fn escaped(json: String) -> String {
    let is_odd = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
    };
    if !json.contains(is_odd) {
        return json;
    }
    let escape = |c: char| format!("\\u{:04x}", u32::from(c));
    json.chars().map(|c| if is_odd(c) { escape(c) } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_would_refuse_or_fold_is_escaped_and_means_the_same() {
        let odd = json!({"k": "\u{7f}\u{85}\u{9f}\u{2028}\u{2029}\u{ffff} \u{e9}\u{10ffff}\"\n"});
        let text = escaped(odd.to_string());
        assert!(text.contains("\\u007f\\u0085\\u009f\\u2028\\u2029\\uffff \u{e9}\u{10ffff}"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), odd);
        let plain = json!({"k": "plain"}).to_string();
        assert_eq!(escaped(plain.clone()), plain);
    }
}
