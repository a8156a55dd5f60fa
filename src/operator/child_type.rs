//! A child type of an operator, and how one of its objects is treated.

use super::{ChildConfig, ChildConfigError, ConfigError, UpdateStrategy};
use crate::object::K8sType;

/// A child type of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildType {
    /// The type.
    pub ty: K8sType,
    /// How its objects are treated.
    pub config: ChildConfig,
}

impl ChildType {
    /// Refuses a configuration that cannot work.
    pub(super) fn validate(&self, operator: &str) -> Result<(), ConfigError> {
        let Self { ty, config } = self;
        config.validate(ty).map_err(|why| {
            let (operator, ty) = (operator.to_owned(), ty.clone());
            ConfigError::Child { operator, ty, why }
        })
    }

    /// The options of one of its objects, which may have its own; what holds for all objects of a
    /// type stays. The only place that decides how a desired child is treated.
    pub(crate) fn config_of(
        &self,
        own: Option<ChildConfig>,
    ) -> Result<ChildConfig, ChildConfigError> {
        let Self { ty, config: of_type } = self;
        let Some(own) = own else { return Ok(*of_type) };
        let of_whole_types = [
            ("ignoring_status()", own.ignores_status, of_type.ignores_status),
            ("delete_with_finalizer()", own.delete_with_finalizer, of_type.delete_with_finalizer),
            ("rolling(..)", own.rolling.is_some(), own.rolling == of_type.rolling),
            ("orphan_on_delete()", own.orphan_on_delete, of_type.orphan_on_delete),
        ];
        if let Some((option, ..)) =
            of_whole_types.into_iter().find(|(_, is_asked, is_of_type)| *is_asked && !is_of_type)
        {
            return Err(ChildConfigError::OfType { option, ty: ty.clone() });
        }
        let ChildConfig { ignores_status, delete_with_finalizer, orphan_on_delete, .. } = *of_type;
        let rolling = of_type.rolling.filter(|_| own.update_strategy != UpdateStrategy::OnDelete);
        let config =
            ChildConfig { delete_with_finalizer, orphan_on_delete, ignores_status, rolling, ..own };
        config.validate(ty).map(|()| config)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};

    use super::*;
    use crate::operator::Propagation;

    #[test]
    fn an_object_has_options_of_its_own_except_those_of_its_type() {
        let of = |config| ChildType { ty: K8sType::of::<Secret>(), config };
        let own = ChildConfig::apply().adopting().with_propagation(Propagation::Foreground);
        let plain = of(ChildConfig::recreate().ignoring_status());
        assert_eq!(plain.config_of(None), Ok(plain.config));
        assert_eq!(plain.config_of(Some(own)), Ok(own.ignoring_status()));
        let with_finalizer = of(ChildConfig::apply().delete_with_finalizer());
        assert_eq!(with_finalizer.config_of(Some(own)), Err(ChildConfigError::AdoptsUncollectable));
        let recreated = ChildConfig::recreate();
        assert_eq!(
            with_finalizer.config_of(Some(recreated)),
            Ok(recreated.delete_with_finalizer())
        );
    }

    #[test]
    fn an_option_that_cannot_work_for_one_object_says_what_to_write_instead() {
        let of = |ty: K8sType| ChildType { ty, config: ChildConfig::apply() };
        let secret = || of(K8sType::of::<Secret>());
        let claim = || of(K8sType::of::<PersistentVolumeClaim>());
        for (ty, own, message) in [
            (
                secret(),
                ChildConfig::apply().ignoring_status(),
                "`ignoring_status()` holds for all objects of a type: set it where the \
                 `OperatorConfig` declares Secret.v1",
            ),
            (
                secret(),
                ChildConfig::apply().orphan_on_delete(),
                "`orphan_on_delete()` holds for all objects of a type: set it where the \
                 `OperatorConfig` declares Secret.v1",
            ),
            (
                secret(),
                ChildConfig::apply().delete_with_finalizer(),
                "`delete_with_finalizer()` holds for all objects of a type: set it where the \
                 `OperatorConfig` declares Secret.v1",
            ),
            (
                secret(),
                ChildConfig::recreate().adopting(),
                "`adopting()` is for children that are applied: write \
                 `ChildConfig::apply().adopting()`, or remove `adopting()`",
            ),
            (
                claim(),
                ChildConfig::recreate(),
                "it is never recreated, as that would delete what it holds: use \
                 `ChildConfig::apply()` or `on_delete()` without `recreate_if_immutable()`",
            ),
        ] {
            assert_eq!(ty.config_of(Some(own)).unwrap_err().to_string(), message);
        }
    }
}
