//! Several operators for the same parents.

use super::{ConfigError, OperatorConfig, Role};

impl<R: Role> OperatorConfig<R> {
    /// Declares that an operator of another process answers for the same parents. Those of the own
    /// process are known, and need no declaration.
    ///
    /// Each operator of a parent has its own field manager, finalizer and children. The types of the
    /// conditions that the framework sets get the operator's name as a prefix, for example
    /// `backup/Ready`. Each operator writes and removes only its own status fields, and none of them sets
    /// `status.observedGeneration`. A child or a status field that two of them return stays as the first
    /// one wrote it, and is reported by the other one.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use operetta::prelude::*;
    ///
    /// let config = OperatorConfig::of::<ConfigMap>("backup").beside("database");
    /// # drop(config);
    /// ```
    #[must_use]
    pub fn beside(mut self, operator: &str) -> Self {
        self.beside.insert(operator.to_owned());
        self
    }

    /// Refuses two operators of one parent type that would hold a parent by one finalizer.
    ///
    /// # Errors
    /// They have the same finalizer.
    pub fn validate_beside<O: Role>(&self, other: &OperatorConfig<O>) -> Result<(), ConfigError> {
        let is_type = self.parent.group() == other.parent.group()
            && self.parent.kind() == other.parent.kind();
        if !is_type || self.finalizer_name() != other.finalizer_name() {
            return Ok(());
        }
        let (one, other, finalizer) =
            (other.name.clone(), self.name.clone(), self.finalizer_name());
        Err(ConfigError::SharedFinalizer { one, other, finalizer })
    }
}
