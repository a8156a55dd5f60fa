//! How a user pauses the reconciliation of one parent.

use crate::object::Object;

/// The annotation that pauses a parent while its value is `true`, in any case. Any other value does
/// not, and a Warning Event reports it unless it is `false` or empty.
///
/// While a parent is paused no child of it is created, changed or deleted, it is not finalized, and
/// its finalizers stay as they are. Its handler is still called, and its status is updated: the
/// condition `Paused` shows what would be written. When the annotation is removed the parent is
/// reconciled at once.
///
/// A paused parent that is deleted waits for its finalizer, if it has one, until it is no longer
/// paused. Kubernetes collects its children as usual when it is deleted.
pub const PAUSED_ANNOTATION: &str = "operetta.dev/paused";

/// Whether a parent is paused.
pub fn is_paused(parent: &Object) -> bool {
    parent
        .annotations()
        .get(PAUSED_ANNOTATION)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// The value of the annotation if it does not pause the parent but may have been meant to.
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
