//! Whether other controllers write the status of the parents too.

use super::{ConfigError, OperatorConfig, Role};

impl<R: Role> OperatorConfig<R> {
    /// Declares that other controllers write the status of the parents too, as cert-manager does
    /// for its Certificates.
    ///
    /// Then only what the handler returns is written: its fields over the existing ones, and its
    /// conditions by their types, including `Ready`. Nothing that it does not return is removed;
    /// the framework sets no condition of its own and no `observedGeneration`. Failures are
    /// reported by Events, over HTTP and by metrics.
    ///
    /// This always holds for parents of a type that the API server itself defines, such as a Pod, a
    /// Node or a Deployment.
    #[must_use]
    pub fn sharing_status(mut self) -> Self {
        self.shared_status = true;
        self
    }

    /// Whether other controllers write the status of the parents too: it was declared, the API server
    /// itself defines the type, or the operator is a decorator.
    pub fn shares_status(&self) -> bool {
        self.shared_status || self.is_decorator() || self.parent.is_builtin()
    }

    pub(super) fn validate_status(&self) -> Result<(), ConfigError> {
        if self.child_status && self.shares_status() {
            let (operator, parent) = (self.name.clone(), self.parent.clone());
            return Err(ConfigError::ListInSharedStatus { operator, parent });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::K8sType;

    #[test]
    fn the_status_of_others_is_shared_and_lists_no_children() {
        let of = |api_version| {
            OperatorConfig::new("a", K8sType::namespaced(api_version, "Thing", "things"))
        };
        for (config, shares) in [
            (of("apps/v1"), true),
            (of("networking.k8s.io/v1"), true),
            (of("gateway.networking.k8s.io/v1"), false),
            (of("cert-manager.io/v1"), false),
            (of("cert-manager.io/v1").sharing_status(), true),
        ] {
            assert_eq!(config.shares_status(), shares, "{config:?}");
            assert_eq!(config.validate(), Ok(()));
            let listing = config.with_child_status().validate();
            let is_refused = matches!(listing, Err(ConfigError::ListInSharedStatus { .. }));
            assert_eq!(is_refused, shares, "{listing:?}");
        }
    }
}
