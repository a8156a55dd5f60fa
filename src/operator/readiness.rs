//! When the children of an operator are ready.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{ConfigError, OperatorConfig, ReadyWhen, Role};
use crate::object::{K8sType, Object, Readiness, ReadyState, TypedResource};

impl<R: Role> OperatorConfig<R> {
    /// Decides when children of a type are ready: for the condition `Ready` of their parent, for
    /// [stages](super::SyncResponse::then) and for [rollouts](super::Rolling). For types whose status follows no
    /// convention, and for those that have no condition yet when they are created.
    ///
    /// The function is called for each child of the type in each reconcile, so it should be fast. It returns a
    /// [`Readiness`], or whether the child is ready. A child that is being deleted, or whose
    /// `status.observedGeneration` is older than the child, is never ready. A child that does not fit the Rust
    /// type is not ready, nor is one for which the function panics.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
    /// use operetta::{object::Readiness, operator::OperatorConfig, prelude::*};
    ///
    /// let config = OperatorConfig::of::<ConfigMap>("store")
    ///     .child::<PersistentVolumeClaim>(ChildConfig::apply())
    ///     // This storage class binds a claim at its first use.
    ///     .ready_when(|_: &PersistentVolumeClaim| true);
    /// assert!(config.validate().is_ok());
    /// ```
    #[must_use]
    pub fn ready_when<C, A>(self, is: impl Fn(&C) -> A + Send + Sync + 'static) -> Self
    where
        C: TypedResource + DeserializeOwned,
        A: Into<Readiness>,
    {
        self.ready_when_of_type(K8sType::of::<C>(), move |object| match object.parse_as::<C>() {
            Ok(child) => is(&child).into(),
            Err(error) => Readiness::progressing(error.to_string()),
        })
    }

    /// The same for a type that is known by its names.
    #[must_use]
    pub fn ready_when_of_type<A>(
        mut self,
        ty: K8sType,
        is: impl Fn(&Object) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Into<Readiness>,
    {
        let is = Arc::new(move |object: &Object| is(object).into());
        self.ready_when.push(ReadyWhen { ty, is });
        self
    }

    /// Whether a child is ready, and what it waits for.
    pub(crate) fn readiness(&self, child: &Object) -> Readiness {
        match self.ready_when_for(child.ty()) {
            Some(by) => by.readiness(child),
            None => Readiness::of(child),
        }
    }

    /// The same without the reason.
    pub(crate) fn ready_state(&self, child: &Object) -> ReadyState {
        match self.ready_when_for(child.ty()) {
            Some(by) => by.readiness(child).state,
            None => Readiness::state_of(child),
        }
    }

    pub(super) fn validate_ready_when(&self) -> Result<(), ConfigError> {
        let is_unknown = |by: &&ReadyWhen| self.child_config(&by.ty).is_none();
        match self.ready_when.iter().find(is_unknown) {
            Some(by) => {
                Err(ConfigError::ReadyWhen { operator: self.name.clone(), ty: by.ty.clone() })
            }
            None => Ok(()),
        }
    }

    /// The last one that was given.
    fn ready_when_for(&self, ty: &K8sType) -> Option<&ReadyWhen> {
        self.ready_when.iter().rfind(|by| by.ty == *ty)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::{Value, json};

    use super::*;
    use crate::{object::KeptManagers, operator::ChildConfig};

    fn secret(change: impl FnOnce(&mut Value)) -> Object {
        let mut value = json!({
            "metadata": {"name": "s", "namespace": "ns", "uid": "u", "resourceVersion": "1"},
            "type": "Opaque",
        });
        change(&mut value);
        Object::from_value(&K8sType::of::<Secret>(), &value, &KeptManagers::default()).unwrap()
    }

    fn config() -> OperatorConfig {
        OperatorConfig::of::<ConfigMap>("op").child::<Secret>(ChildConfig::apply())
    }

    #[test]
    fn a_program_decides_when_a_child_is_ready() {
        let config = config().ready_when(|secret: &Secret| secret.data.is_some());
        let (empty, full) = (secret(|_| {}), secret(|it| it["data"] = json!({"a": "Yg=="})));
        assert_eq!(config.ready_state(&empty), ReadyState::Progressing);
        assert_eq!(config.readiness(&full), Readiness::ready());
        let going = secret(|it| {
            it["data"] = json!({"a": "Yg=="});
            it["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        });
        assert_eq!(config.ready_state(&going), ReadyState::Terminating);
        let unfit = secret(|it| it["data"] = json!(7));
        assert_eq!(config.ready_state(&unfit), ReadyState::Progressing);
    }

    #[test]
    fn a_function_that_panics_makes_a_child_fail() {
        let config = config().ready_when(|_: &Secret| -> bool { panic!("as it is expected") });
        let expected = Readiness::failed("the function of `ready_when` panicked");
        assert_eq!(config.readiness(&secret(|_| {})), expected);
    }

    #[test]
    fn a_type_that_is_not_declared_is_refused() {
        let refused = config().ready_when(|_: &ConfigMap| true).validate().unwrap_err();
        let message = "operator `op`: `ready_when` is about ConfigMap.v1, which is no child type: declare it \
                       with `child`, or remove the call";
        assert_eq!(refused.to_string(), message);
    }
}
