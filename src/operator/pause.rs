//! How a person takes one parent out of the operator's hands for a while.

use crate::object::Object;

/// The annotation that pauses a parent while its value is `true`, in whatever case; any other value does
/// not, and unless it is `false` or empty a Warning Event says so.
///
/// While a parent is paused no child of it is created, changed or deleted, it is not finalized,
/// and its finalizers stay as they are. Its handler is still asked, and its status follows: the
/// condition `Paused` says what would be written. Without the annotation it runs at once.
///
/// A paused parent that is deleted waits for its finalizer, if it has one, until it is no longer
/// paused. What Kubernetes collects when a parent is gone, it collects all the same.
pub const PAUSED_ANNOTATION: &str = "operetta.dev/paused";

/// Whether a parent is paused.
pub fn is_paused(parent: &Object) -> bool {
    parent
        .annotations()
        .get(PAUSED_ANNOTATION)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// What the annotation says where that pauses nothing although somebody may have meant it to.
pub(crate) fn misunderstood_pause(parent: &Object) -> Option<String> {
    const MAX_CHARS: usize = 32;
    let annotations = parent.annotations();
    let value = annotations.get(PAUSED_ANNOTATION)?;
    let is_clear = ["", "true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word));
    (!is_clear).then(|| value.chars().take(MAX_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn only_true_pauses() {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        for (annotations, expected, odd) in [
            (json!({"operetta.dev/paused": "true"}), true, None),
            (json!({"operetta.dev/paused": "True"}), true, None),
            (json!({"operetta.dev/paused": "TRUE"}), true, None),
            (json!({"operetta.dev/paused": "false"}), false, None),
            (json!({"operetta.dev/paused": "False"}), false, None),
            (json!({"operetta.dev/paused": ""}), false, None),
            (json!({"operetta.dev/paused": "yes"}), false, Some("yes")),
            (json!({"operetta.dev/paused": " true"}), false, Some(" true")),
            (json!({"example.com/paused": "true"}), false, None),
            (json!({}), false, None),
            (json!(null), false, None),
        ] {
            let value = json!({"metadata": {
                "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1",
                "annotations": annotations,
            }});
            let parent = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
            assert_eq!(is_paused(&parent), expected, "{value}");
            assert_eq!(misunderstood_pause(&parent).as_deref(), odd, "{value}");
        }
    }
}
