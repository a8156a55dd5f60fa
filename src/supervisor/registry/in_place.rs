//! Which changes of a configuration take effect in place, and whom they concern. Pure.

use super::RegistrationError;
use crate::operator::OperatorConfig;

/// Whether a change concerns all parents of the operator, or only those that enter or leave the selection.
///
/// # Errors
/// Something changes by which objects on the server are recognised, or that is fixed while the operator runs.
pub(super) fn concerns_all(
    now: &OperatorConfig,
    new: &OperatorConfig,
) -> Result<bool, RegistrationError> {
    if let Some(what) = fixed(now, new) {
        let operator = now.name.clone();
        return Err(RegistrationError::Fixed { operator, what });
    }
    let is_other_child = now.children != new.children;
    let has_functions = !(now.ready_when.is_empty() && new.ready_when.is_empty());
    let is_other_status =
        (now.child_status, now.shared_status) != (new.child_status, new.shared_status);
    let is_other_limit = now.deletion_limit != new.deletion_limit;
    let is_beside_others = now.beside != new.beside;
    Ok(is_other_child || has_functions || is_other_status || is_other_limit || is_beside_others)
}

/// What changes that cannot change in place.
fn fixed(now: &OperatorConfig, new: &OperatorConfig) -> Option<&'static str> {
    let reads = !(now.related.is_empty() && new.related.is_empty());
    [
        (now.parent != new.parent, "parent type"),
        (now.is_decorator() != new.is_decorator(), "role"),
        (now.labels != new.labels, "labels"),
        (now.finalizer_name() != new.finalizer_name(), "finalizer"),
        (now.predecessor != new.predecessor, "predecessor"),
        (now.related != new.related, "related types"),
        (
            reads && now.namespaces != new.namespaces,
            "namespaces, in which it reads related objects",
        ),
    ]
    .into_iter()
    .find_map(|(is_changed, what)| is_changed.then_some(what))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service};

    use super::*;
    use crate::operator::ChildConfig;

    fn config() -> OperatorConfig {
        OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply())
    }

    #[test]
    fn only_children_and_what_is_read_of_them_concern_all_parents() {
        let reading = config().related::<Secret>();
        for (now, new, expected) in [
            (config(), config(), Ok(false)),
            (config(), config().within_namespace("x"), Ok(false)),
            (config(), config().with_parent_selector("tier=gold"), Ok(false)),
            (config(), config().with_max_concurrent_reconciles(3), Ok(false)),
            (config(), config().child::<Service>(ChildConfig::apply()), Ok(true)),
            (config(), config().with_child_status(), Ok(true)),
            (config(), OperatorConfig::of::<Secret>("a"), Err("parent type")),
            (config(), OperatorConfig::decorates::<ConfigMap>("a").erased(), Err("role")),
            (config(), config().with_finalizer_name("example.com/a"), Err("finalizer")),
            (config(), reading.clone(), Err("related types")),
            (reading.clone(), reading.clone(), Ok(false)),
            (
                reading.clone(),
                reading.within_namespace("x"),
                Err("namespaces, in which it reads related objects"),
            ),
        ] {
            let found = concerns_all(&now, &new).map_err(|error| match error {
                RegistrationError::Fixed { what, .. } => what,
                other => panic!("{other}"),
            });
            assert_eq!(found, expected, "{new:?}");
        }
    }
}
