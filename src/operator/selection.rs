//! The parents that an operator reconciles.

use super::{ConfigError, Namespaces, OperatorConfig, Role};
use crate::object::{LabelSelector, Object, Undecodable};

/// The parents that an operator reconciles.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    namespaces: Namespaces,
    selector: Option<LabelSelector>,
    annotations: Option<LabelSelector>,
}

impl<R: Role> OperatorConfig<R> {
    /// Restricts the operator to parents whose labels match, for example `tier=gold,!legacy`.
    ///
    /// A parent that leaves the selection is finalized, if the handler has a finalizer, and then
    /// not modified any more. Its children stay as they are, unless the handler's `finalize`
    /// removed them. An operator with a finalizer, its own or of a predecessor, watches all parents
    /// of its namespaces: otherwise a parent that leaves the selection while no process runs would
    /// keep its finalizer for ever.
    #[must_use]
    pub fn with_parent_selector(mut self, selector: &str) -> Self {
        self.parent_selector = Some(selector.to_owned());
        self
    }

    /// Restricts the operator to parents whose annotations match, for example `example.com/inject=true,!skip`.
    ///
    /// The syntax is that of a label selector. The API server does not know such selectors: all objects of
    /// the type are watched, and only those that match become parents.
    #[must_use]
    pub fn with_parent_annotations(mut self, selector: &str) -> Self {
        self.parent_annotations = Some(selector.to_owned());
        self
    }

    pub(crate) fn selection(&self) -> Result<Selection, ConfigError> {
        let parse = |text: &String| {
            LabelSelector::parse(text)
                .map_err(|why| ConfigError::Selector { operator: self.name.clone(), why })
        };
        let selector = self.parent_selector.as_ref().map(parse).transpose()?;
        let annotations = self.parent_annotations.as_ref().map(parse).transpose()?;
        Ok(Selection { namespaces: self.namespaces.clone(), selector, annotations })
    }
}

impl Selection {
    pub(crate) fn selects(&self, parent: &Object) -> bool {
        let matches = |selector: &LabelSelector| selector.matches(&parent.labels());
        let has = |annotations: &LabelSelector| annotations.matches(&parent.annotations());
        self.is_here(parent)
            && self.selector.as_ref().is_none_or(matches)
            && self.annotations.as_ref().is_none_or(has)
    }

    /// Whether an object that cannot be decoded may be selected: unknown values count as matching.
    pub(crate) fn may_select(&self, object: &Undecodable) -> bool {
        let is_here = |namespace: Option<&str>| self.namespaces.include(namespace);
        let matches = |selector: &LabelSelector| {
            object.labels().is_none_or(|labels| selector.matches(labels))
        };
        object.key().is_none_or(|key| is_here(key.namespace.as_deref()))
            && self.selector.as_ref().is_none_or(matches)
    }

    pub(crate) fn is_here(&self, parent: &Object) -> bool {
        self.namespaces.include(parent.namespace())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn namespace_and_labels_must_both_match() {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let parent = |namespace: &str, tier: &str| {
            let metadata = json!({"name": "p", "namespace": namespace, "uid": "u",
                "resourceVersion": "1", "labels": {"tier": tier}});
            let value = json!({"metadata": metadata});
            Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
        };
        let config = OperatorConfig::new("op", ty.clone()).within_namespace("a");
        let selection = config.with_parent_selector("tier=gold").selection().unwrap();
        assert!(selection.selects(&parent("a", "gold")));
        assert!(!selection.selects(&parent("b", "gold")));
        assert!(!selection.selects(&parent("a", "tin")));
        assert!(selection.is_here(&parent("a", "tin")));
        for (metadata, may) in [
            (json!({"name": "p", "namespace": "a", "labels": {"tier": "gold"}}), true),
            (json!({"name": "p", "namespace": "a", "labels": {"tier": 7}}), true),
            (json!({"labels": {"tier": "gold"}}), true),
            (json!({"name": "p", "namespace": "a"}), false),
            (json!({"name": "p", "namespace": "a", "labels": {"tier": "tin"}}), false),
            (json!({"name": "p", "namespace": "b", "labels": {"tier": "gold"}}), false),
        ] {
            let text = json!({"metadata": metadata}).to_string();
            let object = Undecodable::read(&ty, &text, String::new());
            assert_eq!(selection.may_select(&object), may, "{text}");
        }
        let config = OperatorConfig::new("op", ty).with_parent_selector("tier=gold,");
        let error = config.validate().unwrap_err();
        assert!(matches!(error, ConfigError::Selector { .. }));
        assert!(error.to_string().contains("is invalid: "), "with the cause: {error}");
    }
}
