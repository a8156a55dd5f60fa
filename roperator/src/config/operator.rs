//! The configuration of an operator.

use std::{cmp::min, collections::HashMap, time::Duration};

use operetta::{
    object,
    operator::{self, Labels, Predecessor},
};

use crate::k8s_types::K8sType;

/// The label of children whose value is the uid of the parent.
pub const DEFAULT_TRACKING_LABEL_NAME: &str = "app.kubernetes.io/instance";

/// The label of children whose value is the name of the operator.
pub const DEFAULT_OWNERSHIP_LABEL_NAME: &str = "app.kubernetes.io/managed-by";

/// roperator lets a handler take any time, and has no option for it.
const HANDLER_DEADLINE: Duration = Duration::from_mins(10);

/// roperator lets any number of handlers run, which may block.
const MAX_CONCURRENT_RECONCILES: usize = 64;

const MIN_ERROR_BACKOFF: Duration = Duration::from_millis(500);

/// How a child that differs from the desired state is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateStrategy {
    /// Update it in place. Fields that others set stay.
    Replace,
    /// Delete it, and create it again once it is gone.
    Recreate,
    /// Do not modify it; the change takes effect when somebody deletes it.
    OnDelete,
}

/// How children of one type are treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildConfig {
    /// How a child that differs from the desired state is changed.
    pub update_strategy: UpdateStrategy,
}

/// One operator: its name, its parent type, and its child types.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorConfig {
    /// The type of the objects that users create.
    pub parent: &'static K8sType,
    /// Every type that the handler may return.
    pub child_types: HashMap<&'static K8sType, ChildConfig>,
    /// The namespace of parents and children; `None` for all.
    pub namespace: Option<String>,
    /// The identity of the operator: a DNS label of at most 63 characters. It is the value of a label of
    /// each child, the finalizer, and the field manager.
    pub operator_name: String,
    /// The label of children whose value is the uid of the parent.
    pub tracking_label_name: String,
    /// The label of children whose value is the name of the operator.
    pub ownership_label_name: String,
    /// The port for health and metrics, on all addresses.
    pub server_port: u16,
    /// Whether `/metrics` is served.
    pub expose_metrics: bool,
    /// Whether `/health` is served.
    pub expose_health: bool,
    /// The longest delay between retries.
    pub max_error_backoff: Duration,
}

impl ChildConfig {
    /// Children with this strategy.
    pub fn new(update_strategy: UpdateStrategy) -> Self {
        Self { update_strategy }
    }

    /// Changed children are deleted and created again.
    pub fn recreate() -> Self {
        Self::new(UpdateStrategy::Recreate)
    }

    /// Changed children are updated.
    pub fn replace() -> Self {
        Self::new(UpdateStrategy::Replace)
    }

    /// Existing children are never changed.
    pub fn on_delete() -> Self {
        Self::new(UpdateStrategy::OnDelete)
    }

    fn to_operetta(&self) -> operator::ChildConfig {
        match self.update_strategy {
            UpdateStrategy::Replace => operator::ChildConfig::apply(),
            UpdateStrategy::Recreate => operator::ChildConfig::recreate(),
            UpdateStrategy::OnDelete => operator::ChildConfig::on_delete(),
        }
    }
}

impl OperatorConfig {
    /// An operator without child types yet, in all namespaces.
    pub fn new(operator_name: impl Into<String>, parent: &'static K8sType) -> Self {
        Self {
            parent,
            child_types: HashMap::new(),
            namespace: None,
            operator_name: operator_name.into(),
            tracking_label_name: DEFAULT_TRACKING_LABEL_NAME.to_owned(),
            ownership_label_name: DEFAULT_OWNERSHIP_LABEL_NAME.to_owned(),
            server_port: 8080,
            expose_metrics: true,
            expose_health: true,
            max_error_backoff: Duration::from_mins(10),
        }
    }

    /// Restricts the operator to a namespace.
    #[must_use]
    pub fn within_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Adds a child type.
    #[must_use]
    pub fn with_child(mut self, child_type: &'static K8sType, config: ChildConfig) -> Self {
        self.child_types.insert(child_type, config);
        self
    }

    /// Sets whether `/health` is served.
    #[must_use]
    pub fn expose_health(mut self, expose_health: bool) -> Self {
        self.expose_health = expose_health;
        self
    }

    /// Sets whether `/metrics` is served.
    #[must_use]
    pub fn expose_metrics(mut self, expose_metrics: bool) -> Self {
        self.expose_metrics = expose_metrics;
        self
    }

    /// Sets the port for health and metrics.
    #[must_use]
    pub fn server_port(mut self, port: u16) -> Self {
        self.server_port = port;
        self
    }

    /// Sets the longest delay between retries.
    #[must_use]
    pub fn max_error_backoff(mut self, max_error_backoff: Duration) -> Self {
        self.max_error_backoff = max_error_backoff;
        self
    }

    /// Every type that the operator watches.
    pub(crate) fn types(&self) -> impl Iterator<Item = &'static K8sType> {
        self.child_types.keys().copied().chain([self.parent])
    }

    /// The same as Operetta has it: with the names that roperator uses in a cluster, so that this operator
    /// continues what the same program built with roperator has begun, and the other way round.
    ///
    /// `typed` knows every type of [`Self::types`].
    pub(crate) fn to_operetta(
        &self,
        user_agent: &str,
        typed: impl Fn(&K8sType) -> object::K8sType,
    ) -> operator::OperatorConfig {
        let name = &self.operator_name;
        let labels = Labels {
            parent_uid: self.tracking_label_name.clone(),
            managed_by: self.ownership_label_name.clone(),
        };
        let mut config = operator::OperatorConfig::new(name, typed(self.parent))
            .with_finalizer_name(name)
            .with_handler_deadline(HANDLER_DEADLINE)
            .with_max_concurrent_reconciles(MAX_CONCURRENT_RECONCILES)
            .with_error_backoff(
                min(MIN_ERROR_BACKOFF, self.max_error_backoff),
                self.max_error_backoff,
            )
            .with_labels(labels)
            .succeeding(predecessor(user_agent));
        let mut children: Vec<_> = self.child_types.iter().collect();
        children.sort_by_key(|(ty, _)| (ty.api_version, ty.kind));
        for (ty, of_type) in children {
            config = config.child_of_type(typed(ty), of_type.to_operetta());
        }
        match &self.namespace {
            Some(namespace) => config.within_namespace(namespace),
            None => config,
        }
    }
}

/// roperator's requests name no field manager: the server takes the user agent up to a `/`.
fn predecessor(user_agent: &str) -> Predecessor {
    let manager = user_agent.split('/').next().unwrap_or_default();
    Predecessor { field_managers: vec![manager.to_owned()], ..Predecessor::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s_types::core::v1::{ConfigMap, Pod, Service};

    fn typed(ty: &K8sType) -> object::K8sType {
        object::K8sType::namespaced(ty.api_version, ty.kind, ty.plural_kind)
    }

    #[test]
    fn an_operator_keeps_the_names_that_roperator_uses_in_a_cluster() {
        let config = OperatorConfig::new("cook", ConfigMap).to_operetta("cook/1.0", typed);
        let shown = format!("{config:?}");
        for part in [
            r#"finalizer: Some("cook")"#,
            r#"parent_uid: "app.kubernetes.io/instance""#,
            r#"managed_by: "app.kubernetes.io/managed-by""#,
            r#"field_managers: ["cook"]"#,
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(config.validate(), Ok(()));
    }

    #[test]
    fn each_option_reaches_operetta() {
        let config = OperatorConfig::new("cook", ConfigMap)
            .with_child(Service, ChildConfig::replace())
            .with_child(Pod, ChildConfig::recreate())
            .with_child(ConfigMap, ChildConfig::on_delete())
            .within_namespace("kitchen")
            .max_error_backoff(Duration::from_millis(200));
        assert_eq!(config.types().count(), 4);
        let config = config.to_operetta("cook", typed);
        let children: Vec<_> =
            config.child_types().iter().map(|of| (of.ty.kind(), of.config)).collect();
        let expected = [
            ("ConfigMap", operator::ChildConfig::on_delete()),
            ("Pod", operator::ChildConfig::recreate()),
            ("Service", operator::ChildConfig::apply()),
        ];
        assert_eq!(children, expected, "in an order that does not change");
        let shown = format!("{config:?}");
        for part in [r#"Only({"kitchen"})"#, "min_error_backoff: 200ms", "max_error_backoff: 200ms"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(config.validate(), Ok(()));
    }

    #[test]
    fn a_name_that_cannot_work_is_refused() {
        let config = OperatorConfig::new("My Cook", ConfigMap).to_operetta("cook", typed);
        assert!(config.validate().unwrap_err().to_string().contains("`My Cook`"));
    }
}
