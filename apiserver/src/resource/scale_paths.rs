//! Where the scale of a custom resource finds its values: names with dots between them.
//!
//! What looks like the brackets of a JSON path belongs to the names, as on the real server.

use serde_json::Value;

/// Where the scale subresource of a custom resource finds its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    /// Such as `.spec.replicas`.
    pub spec_replicas: String,
    /// Such as `.status.replicas`.
    pub status_replicas: String,
    /// Such as `.status.selector`.
    pub label_selector: Option<String>,
}

impl ScalePaths {
    /// The names of a path.
    pub(crate) fn names(path: &str) -> impl Iterator<Item = &str> {
        path.strip_prefix('.').unwrap_or(path).split('.')
    }

    /// The value at a path.
    pub(crate) fn value<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
        Self::names(path).try_fold(object, |value, name| value.as_object()?.get(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn brackets_and_backslashes_belong_to_the_names() {
        let object = json!({"spec": {"n": [7], "n[0]": 1, "a\\": {"b": 2}}});
        let value = |path: &str| ScalePaths::value(&object, path).cloned();
        assert_eq!(value(".spec.n[0]"), Some(json!(1)));
        assert_eq!(value(r".spec.a\.b"), Some(json!(2)));
        assert_eq!(value(".spec.n.0"), None);
        assert_eq!(value(".spec..n"), None);
    }
}
