//! One conversion: the `ConversionReview`, and what a webhook may answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::{known::Known, thread};
use crate::callout::{Caller, Post, Target};

/// How long a conversion may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// What the server calls itself.
const AGENT: &str = "kube-apiserver";

/// Converts the objects of one custom resource definition.
#[derive(Debug)]
pub(crate) struct Converter {
    target: Target,
    versions: Vec<String>,
    known: Known,
}

impl Converter {
    /// The converter of a definition, if it names a webhook.
    pub(crate) fn of(definition: &Value) -> Option<Self> {
        let conversion = &definition["spec"]["conversion"];
        if conversion["strategy"] != "Webhook" {
            return None;
        }
        let webhook = &conversion["webhook"];
        let versions = webhook["conversionReviewVersions"].as_array().into_iter().flatten();
        Some(Self {
            target: Target::of(&webhook["clientConfig"]),
            versions: versions.filter_map(Value::as_str).map(str::to_owned).collect(),
            known: Known::default(),
        })
    }

    /// A stored object in another version. Where it cannot be converted, the failure is remembered by the
    /// thread, and the object stays as it is.
    pub(crate) fn read(&self, object: Value, to: &str) -> Value {
        if let Some(known) = self.known.find(&object, to) {
            return known;
        }
        match self.called(&object, to) {
            Ok(Some(converted)) => {
                self.known.learn(&object, to, &converted);
                converted
            }
            Ok(None) | Err(()) => object,
        }
    }

    /// The same for an object that is to be stored. Its version is still that of the object that it replaces, by
    /// which it cannot be known.
    pub(crate) fn written(&self, object: Value, to: &str) -> Value {
        match self.called(&object, to) {
            Ok(Some(converted)) => converted,
            Ok(None) | Err(()) => object,
        }
    }

    /// The form that the webhook gives; nothing if the object has it already.
    fn called(&self, object: &Value, to: &str) -> Result<Option<Value>, ()> {
        // An object without fields has none to convert.
        if object["apiVersion"] == to || object.as_object().is_none_or(|it| it.len() <= 2) {
            return Ok(None);
        }
        let caller = thread::caller().ok_or_else(|| "no webhooks are called here".to_owned());
        caller.and_then(|caller| self.convert(&caller, object, to)).map(Some).map_err(thread::fail)
    }

    fn convert(&self, caller: &Caller, object: &Value, to: &str) -> Result<Value, String> {
        let of = shown_kind(object);
        let known = |wanted: &&String| matches!(wanted.as_str(), "v1" | "v1beta1");
        let version = self.versions.iter().find(known);
        let version =
            version.ok_or_else(|| "no supported conversion review versions".to_owned())?;
        let uid = thread::uid();
        let review = json!({
            "kind": "ConversionReview",
            "apiVersion": format!("apiextensions.k8s.io/{version}"),
            "request": { "uid": uid, "desiredAPIVersion": to, "objects": [object] },
        });
        let post = Post {
            target: &self.target,
            body: review.to_string(),
            agent: AGENT,
            timeout: TIMEOUT,
            tells_timeout: true,
        };
        let failed = |why: String| format!("conversion webhook for {of} failed: {why}");
        let text = caller.post(post).map_err(|failure| failed(failure.to_string()))?;
        let answer: Value = serde_json::from_slice(&text).map_err(|_| {
            failed("couldn't get version/kind; json parse error: invalid character".to_owned())
        })?;
        let mut objects = objects(&answer, version, &uid).map_err(failed)?;
        let (Some(converted), true) = (objects.pop(), objects.is_empty()) else {
            let number = answer["response"]["convertedObjects"].as_array().map_or(0, Vec::len);
            return Err(format!(
                "conversion webhook for {of} returned {number} objects, expected 1"
            ));
        };
        let invalid = |why: String| format!("conversion webhook for {of} returned {why}");
        restored(object, converted, to).map_err(invalid)
    }
}

/// The objects of a valid answer.
fn objects(answer: &Value, version: &str, uid: &str) -> Result<Vec<Value>, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&answer["apiVersion"]), text(&answer["kind"]));
    if version == "v1" && (&*api_version, &*kind) != ("apiextensions.k8s.io/v1", "ConversionReview")
    {
        let given = if api_version.contains('/') { api_version } else { format!("/{api_version}") };
        return Err(format!(
            "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, \
             got {given}, Kind={kind}"
        ));
    }
    let response = &answer["response"];
    if !response.is_object() {
        return Err("no response provided".to_owned());
    }
    let given = text(&response["uid"]);
    if version == "v1" && given != uid {
        return Err(format!("expected response.uid={uid:?}, got {given:?}"));
    }
    let (status, message) =
        (text(&response["result"]["status"]), text(&response["result"]["message"]));
    match (status.as_str(), message.as_str()) {
        ("Success", _) => Ok(response["convertedObjects"].as_array().cloned().unwrap_or_default()),
        (_, "") => Err(format!("response.result.status was '{status}', not 'Success'")),
        _ => Err(message),
    }
}

/// The converted object with the metadata of the original, except for labels and annotations.
fn restored(original: &Value, mut converted: Value, to: &str) -> Result<Value, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let given = text(&converted["apiVersion"]);
    if given != to {
        return Err(format!(
            "invalid object at index 0: invalid groupVersion (expected {to}, received {given})"
        ));
    }
    let (kind, given) = (text(&original["kind"]), text(&converted["kind"]));
    if kind != given {
        return Err(format!(
            "invalid object at index 0: invalid kind (expected {kind}, received {given})"
        ));
    }
    for (field, what) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let [wanted, given] = [original, &converted].map(|it| text(&it["metadata"][field]));
        if wanted != given {
            return Err(format!("invalid object: must have the same {what}: {wanted} != {given}"));
        }
    }
    if !converted["metadata"].is_object() {
        return Err("invalid metadata: missing metadata in converted object".to_owned());
    }
    let mut metadata = original["metadata"].clone();
    for field in ["labels", "annotations"] {
        let given = converted["metadata"].get(field).filter(|value| !value.is_null());
        match (given, metadata.as_object_mut()) {
            (Some(value), _) => metadata[field] = value.clone(),
            (None, Some(metadata)) => drop(metadata.remove(field)),
            (None, None) => {}
        }
    }
    converted["metadata"] = metadata;
    Ok(converted)
}

fn shown_kind(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    format!("{}, Kind={}", text("apiVersion"), text("kind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labels_and_annotations_of_the_metadata_are_converted() {
        let original = json!({
            "apiVersion": "x/v1", "kind": "X",
            "metadata": {"name": "a", "uid": "1", "labels": {"a": "b"}, "finalizers": ["f"]},
        });
        let converted = json!({
            "apiVersion": "x/v2", "kind": "X",
            "metadata": {"name": "a", "uid": "1", "annotations": {"c": "d"}, "finalizers": []},
        });
        let restored_object = restored(&original, converted.clone(), "x/v2").unwrap();
        let metadata =
            json!({"name": "a", "uid": "1", "annotations": {"c": "d"}, "finalizers": ["f"]});
        assert_eq!(restored_object["metadata"], metadata);
        let why = restored(&original, converted, "x/v3").unwrap_err();
        assert!(why.contains("expected x/v3, received x/v2"), "{why}");
    }
}
