//! Refuses a configuration that cannot work.

use super::{
    Allowance, AnyHandler, ConfigError, DeletionLimit, OperatorConfig, Role, is_qualified_name,
};

/// Each reconcile may occupy a thread: with more, handlers would wait for one past their deadlines.
const MOST_RECONCILES: usize = 1_000;

impl<R: Role> OperatorConfig<R> {
    /// Refuses a configuration that cannot work.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.operator_name()?;
        let operator = || self.name.clone();
        for (field, is_zero) in [
            ("max_concurrent_reconciles", self.max_concurrent_reconciles == 0),
            ("handler_deadline", self.handler_deadline.is_zero()),
            ("min_error_backoff", self.min_error_backoff.is_zero()),
            ("max_error_backoff", self.max_error_backoff.is_zero()),
        ] {
            if is_zero {
                return Err(ConfigError::Zero { operator: operator(), field });
            }
        }
        if self.max_concurrent_reconciles > MOST_RECONCILES {
            let (operator, limit) = (operator(), self.max_concurrent_reconciles);
            return Err(ConfigError::TooManyReconciles { operator, limit, most: MOST_RECONCILES });
        }
        self.validate_namespaces()?;
        self.validate_related()?;
        self.validate_deletion_limit()?;
        self.validate_status()?;
        self.validate_ready_when()?;
        self.validate_finalizer()?;
        self.selection()?;
        for (index, child) in self.children.iter().enumerate() {
            child.validate(&self.name)?;
            let ty = &child.ty;
            // A child that is desired in one version would be undesired in the other.
            if self.children[..index].iter().any(|earlier| earlier.ty.is_version_of(ty)) {
                return Err(ConfigError::DuplicateChild { operator: operator(), ty: ty.clone() });
            }
            if !self.may_have_children(ty) {
                let (parent, child) = (self.parent.clone(), ty.clone());
                return Err(ConfigError::ClusterChild { operator: operator(), parent, child });
            }
        }
        Ok(())
    }

    /// Refuses a handler that cannot handle the parents.
    pub(crate) fn validate_handler(&self, handler: &AnyHandler) -> Result<(), ConfigError> {
        if handler.names_related() && self.related.is_empty() {
            return Err(ConfigError::NoRelatedType { operator: self.name.clone() });
        }
        let (api_version, kind) = (self.parent.api_version(), self.parent.kind());
        match handler.parent().filter(|taken| !taken.is(api_version, kind)) {
            Some(taken) => {
                let (operator, parent) = (self.name.clone(), self.parent.clone());
                Err(ConfigError::HandlerParent { operator, parent, taken })
            }
            None => Ok(()),
        }
    }

    fn validate_namespaces(&self) -> Result<(), ConfigError> {
        let operator = || self.name.clone();
        let Some(names) = self.namespaces.names() else { return Ok(()) };
        if names.is_empty() {
            return Err(ConfigError::NoNamespace { operator: operator() });
        }
        if !self.parent.is_namespaced() {
            let parent = self.parent.clone();
            return Err(ConfigError::ClusterParent { operator: operator(), parent });
        }
        match self.namespaces.invalid_name() {
            Some(name) => {
                let namespace = name.to_owned();
                Err(ConfigError::NamespaceName { operator: operator(), namespace })
            }
            None => Ok(()),
        }
    }

    fn validate_finalizer(&self) -> Result<(), ConfigError> {
        match &self.finalizer {
            Some(finalizer) if !is_qualified_name(finalizer) => {
                let (operator, finalizer) = (self.name.clone(), finalizer.clone());
                Err(ConfigError::Finalizer { operator, finalizer })
            }
            _ => Ok(()),
        }
    }

    fn validate_deletion_limit(&self) -> Result<(), ConfigError> {
        let Some(DeletionLimit { reconcile, minute }) = self.deletion_limit else { return Ok(()) };
        match [reconcile, minute].iter().find(|allowance| allowance.percent > 100) {
            Some(Allowance { percent, .. }) => {
                Err(ConfigError::Percent { operator: self.name.clone(), percent: *percent })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};

    use super::*;
    use crate::{object::K8sType, operator::ChildConfig};

    #[test]
    fn a_child_type_is_listed_once_and_in_one_version() {
        let scaler = |version: &str| K8sType::namespaced(version, "Scaler", "scalers");
        let with = |ty: K8sType| {
            OperatorConfig::of::<ConfigMap>("a")
                .child_of_type(scaler("example.com/v2"), ChildConfig::apply())
                .child_of_type(ty, ChildConfig::recreate())
                .validate()
        };
        for version in ["example.com/v2", "example.com/v1"] {
            assert!(matches!(with(scaler(version)), Err(ConfigError::DuplicateChild { .. })));
        }
        assert_eq!(with(scaler("example.org/v1")), Ok(()));
    }

    #[test]
    fn a_cluster_scoped_child_needs_a_cluster_scoped_parent() {
        let child = ChildConfig::on_delete();
        let under_namespaced = OperatorConfig::of::<ConfigMap>("a").child::<Namespace>(child);
        assert!(matches!(under_namespaced.validate(), Err(ConfigError::ClusterChild { .. })));
        let under_cluster = OperatorConfig::of::<Namespace>("a").child::<Namespace>(child);
        assert_eq!(under_cluster.validate(), Ok(()));
    }

    #[test]
    fn namespaces_are_valid_and_need_namespaced_parents() {
        let config = || OperatorConfig::of::<ConfigMap>("a");
        assert_eq!(config().within_namespaces(["a", "b"]).validate(), Ok(()));
        let nowhere = config().within_namespaces::<String>([]).validate();
        assert!(matches!(nowhere, Err(ConfigError::NoNamespace { .. })));
        let invalid = config().within_namespace("a/b").validate();
        assert!(matches!(invalid, Err(ConfigError::NamespaceName { .. })));
        let cluster = OperatorConfig::of::<Namespace>("a").within_namespace("a").validate();
        assert!(matches!(cluster, Err(ConfigError::ClusterParent { .. })));
    }

    #[test]
    fn a_finalizer_has_a_qualified_name() {
        let with = |finalizer| OperatorConfig::of::<ConfigMap>("a").with_finalizer_name(finalizer);
        for good in ["a", "cook", "example.com/cook", "a.b_c-D"] {
            assert_eq!(with(good).validate(), Ok(()), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a b", "ä"] {
            let refused = with(bad).validate();
            assert!(matches!(refused, Err(ConfigError::Finalizer { .. })), "{bad}");
        }
        assert_eq!(OperatorConfig::of::<ConfigMap>("a").finalizer_name(), "operetta.dev/a");
    }

    #[test]
    fn limits_are_positive_and_bounded() {
        let config = OperatorConfig::of::<ConfigMap>("a").with_max_concurrent_reconciles(0);
        assert!(matches!(config.validate(), Err(ConfigError::Zero { .. })));
        let config =
            OperatorConfig::of::<ConfigMap>("a").with_max_concurrent_reconciles(usize::MAX);
        assert!(matches!(config.validate(), Err(ConfigError::TooManyReconciles { .. })));
    }
}
