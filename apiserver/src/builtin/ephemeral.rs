//! Containers for debugging, which are added to a Pod that runs: that they stay.
//!
//! What they may have is validated with the Pod.

use serde_json::Value;

use super::path;
use crate::schema::{FieldError, FieldPath};

/// Containers for debugging stay as they are.
pub(super) fn check_kept(new: &Value, old: &Value) -> Vec<FieldError> {
    let at = FieldPath::new("spec").child("ephemeralContainers");
    let now = path::list(new, "spec.ephemeralContainers");
    let old = path::list(old, "spec.ephemeralContainers").iter();
    old.filter_map(|old| {
        let name = path::text(old, "name");
        let detail = match now.iter().find(|new| path::text(new, "name") == name) {
            None => format!("existing ephemeral containers {name:?} may not be removed\n"),
            Some(new) if new == old => return None,
            Some(_) => format!("existing ephemeral containers {name:?} may not be changed\n"),
        };
        Some(FieldError::forbidden(&at, detail))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(debuggers: &Value) -> Value {
        json!({ "spec": {
            "containers": [{ "name": "c", "image": "i" }], "ephemeralContainers": debuggers,
        } })
    }

    fn lines(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn containers_for_debugging_are_not_removed() {
        let old = pod(&json!([{ "name": "x", "image": "a" }]));
        assert!(check_kept(&old, &old).is_empty());
        assert_eq!(
            lines(&check_kept(&pod(&json!([])), &old)),
            [
                "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"x\" may not be \
              removed\n"
            ]
        );
    }
}
