//! The parents of a file as the API server would store them, with its defaults; or its refusal.

use serde_json::Value;

use super::against::Applied;
use crate::{
    cluster::Cluster,
    object::{KeptManagers, Object, ParseObjectError},
    reply::{ApiError, Refusal},
};

/// What the API server says of a parent that nobody applied.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It would be stored like this.
    Stored(Object),
    /// It would be refused.
    Refused(Object, ApiError),
    /// The server could not be asked. The object is that of the file.
    Unasked(Object, Unasked),
}

/// Why the API server says nothing of a parent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unasked {
    #[error(transparent)]
    Request(#[from] ApiError),
    #[error("its answer {0}")]
    Answer(#[from] ParseObjectError),
}

pub(super) async fn tried(cluster: &Cluster, parent: Applied) -> Verdict {
    let Applied { object, live } = parent;
    match cluster.would_store(&object, live.as_ref()).await {
        Ok(answer) => match stored(&object, answer) {
            Ok(stored) => Verdict::Stored(stored),
            Err(why) => Verdict::Unasked(object, why.into()),
        },
        Err(error) if error.refusal().is_some_and(is_about_the_object) => {
            Verdict::Refused(object, error)
        }
        Err(error) => Verdict::Unasked(object, error.into()),
    }
}

/// Not about who asks, nor about the dry run, nor about the server.
fn is_about_the_object(refusal: &Refusal) -> bool {
    let Refusal { code, message, .. } = refusal;
    let is_about_user = *code == 403 && message.contains("is forbidden: User \"");
    let is_about_dry_run = message.contains("does not support dry run");
    (400..500).contains(code) && ![401, 429].contains(code) && !is_about_user && !is_about_dry_run
}

/// The answer, but for the metadata that a server invents for each dry run.
fn stored(object: &Object, mut answer: Value) -> Result<Object, ParseObjectError> {
    let mut metadata = object.to_value()["metadata"].take();
    if let (Some(fields), Some(answered)) =
        (metadata.as_object_mut(), answer["metadata"].as_object_mut())
    {
        for name in ["labels", "annotations"] {
            match answered.remove(name) {
                Some(value) => fields.insert(name.to_owned(), value),
                None => fields.remove(name),
            };
        }
    }
    answer["metadata"] = metadata;
    Object::from_value(object.ty(), &answer, &KeptManagers::default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::K8sType;

    #[test]
    fn only_what_is_said_of_the_object_refuses_it() {
        let is_refused = |code, message: &str| {
            is_about_the_object(&Refusal {
                code,
                message: message.to_owned(),
                ..Refusal::default()
            })
        };
        assert!(is_refused(422, "App.example.com \"a\" is invalid: spec.size: Required value"));
        assert!(is_refused(403, "admission webhook \"no.example.com\" denied the request: no"));
        assert!(is_refused(404, "namespaces \"ns\" not found"));
        assert!(is_refused(400, "strict decoding error: unknown field \"spec.sise\""));
        for (code, message) in [
            (403, "apps.example.com is forbidden: User \"ann\" cannot create resource \"apps\""),
            (400, "admission webhook \"old.example.com\" does not support dry run"),
            (401, "Unauthorized"),
            (429, "too many requests"),
            (500, "failed calling webhook \"down.example.com\""),
        ] {
            assert!(!is_refused(code, message), "{message}");
        }
    }

    #[test]
    fn defaults_and_labels_are_those_of_the_answer_and_the_rest_of_the_metadata_is_kept() {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let object = json!({
            "metadata": {
                "name": "a", "namespace": "ns", "uid": "none", "resourceVersion": "0",
                "labels": {"a": "1"},
            },
            "spec": {"size": 1},
        });
        let object = Object::from_value(&ty, &object, &KeptManagers::default()).unwrap();
        let answer = json!({
            "metadata": {"name": "a", "uid": "invented", "annotations": {"by": "webhook"}},
            "spec": {"size": 1, "color": "red"},
        });
        let stored = stored(&object, answer).unwrap().to_value();
        assert_eq!(stored["spec"], json!({"size": 1, "color": "red"}));
        let metadata = json!({
            "name": "a", "namespace": "ns", "uid": "none", "resourceVersion": "0",
            "annotations": {"by": "webhook"},
        });
        assert_eq!(stored["metadata"], metadata);
    }
}
