//! Containers for debugging, which are added to a Pod that runs: what they may have, and that they stay.
//!
//! What every container may have is validated elsewhere.

use serde_json::{Value, json};

use super::path;
use crate::schema::{FieldError, FieldErrorKind, FieldPath};

const REFUSAL: &str = "cannot be set for an Ephemeral Container";
/// What belongs to containers that do the work of a Pod, in the order of their Go struct.
const REFUSED: [&str; 8] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// What is wrong with the containers for debugging of a Pod.
pub(super) fn check(pod: &Value) -> Vec<FieldError> {
    let at = FieldPath::new("spec").child("ephemeralContainers");
    let others = ["spec.containers", "spec.initContainers"];
    let others = others.iter().flat_map(|list| path::list(pod, list));
    let others: Vec<&str> = others.map(|container| path::text(container, "name")).collect();
    let mut errors = Vec::new();
    for (index, container) in path::list(pod, "spec.ephemeralContainers").iter().enumerate() {
        let at = at.index(index);
        let target = path::text(container, "targetContainerName");
        if !target.is_empty() && !others.contains(&target) {
            errors.push(FieldError {
                path: at.child("targetContainerName").to_string(),
                kind: FieldErrorKind::NotFound,
                value: Some(json!(target).to_string()),
                detail: String::new(),
            });
        }
        errors.extend(refused(container, &at));
    }
    errors
}

fn refused(container: &Value, at: &FieldPath) -> Vec<FieldError> {
    let is_set = |field: &&str| match path::get(container, field) {
        None => false,
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    };
    let fields = REFUSED.iter().filter(|field| is_set(field));
    let mut errors: Vec<FieldError> =
        fields.map(|field| FieldError::forbidden(&at.child(field), REFUSAL)).collect();
    for (index, mount) in path::list(container, "volumeMounts").iter().enumerate() {
        for field in ["subPath", "subPathExpr"] {
            if !path::text(mount, field).is_empty() {
                let at = at.child("volumeMounts").index(index).child(field);
                errors.push(FieldError::forbidden(&at, REFUSAL));
            }
        }
    }
    errors
}

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
    fn containers_for_debugging_do_no_work_and_target_another() {
        let good =
            json!([{ "name": "d", "image": "i", "targetContainerName": "c", "resources": {} }]);
        assert_eq!(lines(&check(&pod(&good))), [""; 0]);
        let bad =
            json!([{ "name": "d", "targetContainerName": "x", "ports": [{ "containerPort": 1 }] }]);
        assert_eq!(
            lines(&check(&pod(&bad))),
            [
                "spec.ephemeralContainers[0].targetContainerName: Not found: \"x\"",
                "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
            ]
        );
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
