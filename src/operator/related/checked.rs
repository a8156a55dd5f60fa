//! Checks what a handler names against the configuration of its operator, and resolves namespaces.

use std::sync::Arc;

use super::{
    Ask, Asks, Related, RelatedError, Selected,
    rules::{Reach, Rule, Which},
};
use crate::{
    object::{K8sType, LabelSelector, Object, ObjectKey},
    operator::OperatorConfig,
};

impl Related {
    /// What a parent asks for.
    ///
    /// # Errors
    /// A type is not declared, a selector does not parse, or an object is out of reach.
    pub(crate) fn asks(
        &self,
        config: &OperatorConfig,
        parent: &Object,
    ) -> Result<Asks, RelatedError> {
        let mut asks = Asks::with_capacity(self.rules.len());
        for rule in &self.rules {
            let asked = (declared(config, &rule.ty)?, rule.ask(config, parent)?);
            if !asks.contains(&asked) {
                asks.push(asked);
            }
        }
        Ok(asks)
    }
}

/// The type as the operator declares it.
fn declared(config: &OperatorConfig, ty: &K8sType) -> Result<K8sType, RelatedError> {
    let found = config.related.iter().find(|declared| declared.ty == *ty);
    let undeclared = || RelatedError::Undeclared { operator: config.name.clone(), ty: ty.clone() };
    found.map(|declared| declared.ty.clone()).ok_or_else(undeclared)
}

impl Rule {
    fn ask(&self, config: &OperatorConfig, parent: &Object) -> Result<Ask, RelatedError> {
        let namespace = self.namespace(parent);
        match &self.which {
            Which::Named(name) if name.is_empty() => {
                return Err(RelatedError::NoName { ty: self.ty.clone() });
            }
            Which::Named(name) if namespace.is_none() && self.ty.is_namespaced() => {
                let (ty, name) = (self.ty.clone(), name.clone());
                return Err(RelatedError::NoNamespace { ty, name });
            }
            _ => self.check_reach(config, namespace)?,
        }
        Ok(match &self.which {
            Which::Named(name) => Ask::Named(ObjectKey::new(namespace, name)),
            Which::Labelled(selector) => self.selected(namespace, Some(selector))?,
            Which::All => self.selected(namespace, None)?,
        })
    }

    fn namespace<'a>(&'a self, parent: &'a Object) -> Option<&'a str> {
        let namespace = match &self.reach {
            Reach::OfParent => parent.namespace(),
            Reach::Namespace(namespace) => Some(namespace.as_str()),
            Reach::Everywhere => None,
        };
        namespace.filter(|_| self.ty.is_namespaced())
    }

    fn check_reach(
        &self,
        config: &OperatorConfig,
        namespace: Option<&str>,
    ) -> Result<(), RelatedError> {
        if !self.ty.is_namespaced() || config.namespaces.include(namespace) {
            return Ok(());
        }
        let (operator, ty) = (config.name.clone(), self.ty.clone());
        Err(RelatedError::OutOfReach { operator, ty, namespace: namespace.map(str::to_owned) })
    }

    fn selected(
        &self,
        namespace: Option<&str>,
        selector: Option<&String>,
    ) -> Result<Ask, RelatedError> {
        let parse = |text: &String| {
            LabelSelector::parse(text)
                .map_err(|why| RelatedError::Selector { ty: self.ty.clone(), why })
        };
        let selector = selector.map(parse).transpose()?.filter(|it| !it.is_everything());
        Ok(Ask::Selected(Arc::new(Selected { namespace: namespace.map(Arc::from), selector })))
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
    use serde_json::json;

    use super::*;
    use crate::object::KeptManagers;

    fn website() -> K8sType {
        K8sType::namespaced("example.dev/v1", "Website", "websites")
    }

    fn config() -> OperatorConfig {
        OperatorConfig::new("op", website()).related::<Secret>().related::<Node>()
    }

    fn parent(ty: &K8sType) -> Object {
        let namespace = ty.is_namespaced().then_some("shop");
        let metadata =
            json!({"name": "a", "namespace": namespace, "uid": "u", "resourceVersion": "1"});
        Object::from_value(ty, &json!({"metadata": metadata}), &KeptManagers::default()).unwrap()
    }

    fn shown(related: &Related, config: &OperatorConfig) -> Vec<String> {
        let asks = related.asks(config, &parent(&config.parent)).unwrap();
        asks.iter().map(|(ty, ask)| format!("{} {ask}", ty.kind())).collect()
    }

    #[test]
    fn a_rule_without_a_namespace_is_of_the_namespace_of_the_parent() {
        let related = Related::new()
            .named::<Secret>("ca")
            .named::<Secret>(("shared", "ca"))
            .named::<Secret>("ca")
            .named::<Node>("n1")
            .labelled::<Secret>("tier=gold")
            .labelled::<Secret>("tier=gold")
            .in_namespace("shared")
            .all::<Secret>()
            .all::<Secret>()
            .in_all_namespaces()
            .all::<Node>();
        let expected = [
            "Secret shop/ca",
            "Secret shared/ca",
            "Node n1",
            "Secret tier=gold in namespace shop",
            "Secret tier=gold in namespace shared",
            "Secret all in namespace shop",
            "Secret all",
            "Node all",
        ];
        assert_eq!(shown(&related, &config()), expected);
        let cluster = K8sType::cluster_scoped("example.dev/v1", "City", "cities");
        let of_city = OperatorConfig::new("op", cluster).related::<Secret>();
        assert_eq!(shown(&Related::new().all::<Secret>(), &of_city), ["Secret all"]);
        let error = Related::new().named::<Secret>("ca").asks(&of_city, &parent(&of_city.parent));
        assert!(matches!(error, Err(RelatedError::NoNamespace { .. })));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_name() {
        let within = config().within_namespace("shop");
        let refused = |related: Related, config: &OperatorConfig| {
            related.asks(config, &parent(&config.parent)).unwrap_err().to_string()
        };
        for (related, config, expected) in [
            (Related::new().named::<ConfigMap>("a"), config(), "operator `op` does not declare"),
            (Related::new().labelled::<Secret>("a=b,"), config(), "`a=b,` is not a label selector"),
            (Related::new().named::<Secret>(""), config(), "by an empty name"),
            (Related::new().named::<Secret>(("x", "a")), within.clone(), "in namespace x are out"),
            (
                Related::new().all::<Secret>().in_all_namespaces(),
                within,
                "in all namespaces are out",
            ),
        ] {
            let message = refused(related, &config);
            assert!(message.contains(expected), "{message}");
        }
    }
}
