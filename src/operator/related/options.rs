//! Declares the types of related objects of an operator.

use super::RelatedType;
use crate::{
    object::{K8sType, TypedResource},
    operator::{ConfigError, OperatorConfig, Role},
};

impl<R: Role> OperatorConfig<R> {
    /// Adds a type of objects that the handler reads and does not own. Which of them, a handler names for
    /// each parent, see [`Handler::related`](crate::operator::Handler::related); no others are cached.
    #[must_use]
    pub fn related<T>(self) -> Self
    where
        T: TypedResource,
    {
        self.related_of_type(K8sType::of::<T>())
    }

    /// The same for a type that is known by its names.
    #[must_use]
    pub fn related_of_type(mut self, ty: K8sType) -> Self {
        self.related.push(RelatedType { ty, metadata_only: false });
        self
    }

    /// As [`related`](Self::related), and only the metadata of the objects is read, cached and given to the
    /// handler: for types with large objects, or whose status changes often.
    #[must_use]
    pub fn related_metadata<T>(self) -> Self
    where
        T: TypedResource,
    {
        self.related_metadata_of_type(K8sType::of::<T>())
    }

    /// The same for a type that is known by its names.
    #[must_use]
    pub fn related_metadata_of_type(mut self, ty: K8sType) -> Self {
        self.related.push(RelatedType { ty, metadata_only: true });
        self
    }

    pub(in crate::operator) fn validate_related(&self) -> Result<(), ConfigError> {
        for (index, RelatedType { ty, .. }) in self.related.iter().enumerate() {
            if self.related[..index].iter().any(|earlier| earlier.ty.is_version_of(ty)) {
                let (operator, ty) = (self.name.clone(), ty.clone());
                return Err(ConfigError::DuplicateRelated { operator, ty });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};

    use super::*;

    #[test]
    fn a_related_type_is_listed_once_and_in_one_version() {
        let with = |ty: K8sType| {
            OperatorConfig::of::<ConfigMap>("a")
                .related::<Namespace>()
                .related_of_type(ty)
                .validate()
        };
        for version in ["v1", "v2"] {
            let again = with(K8sType::cluster_scoped(version, "Namespace", "namespaces"));
            assert!(matches!(again, Err(ConfigError::DuplicateRelated { .. })));
        }
        assert_eq!(with(K8sType::of::<ConfigMap>()), Ok(()));
    }
}
