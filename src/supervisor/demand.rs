//! Which types the operators need together, and with which selector. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::{cluster::WatchSpec, object::K8sType, operator::OperatorConfig};

/// How a type is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// All its objects.
    Everything,
    /// The objects that carry this label with one of these values.
    ManagedBy { label: String, operators: BTreeSet<String> },
}

impl Need {
    /// What serves both.
    fn union(self, other: Self) -> Self {
        match (self, other) {
            (
                Self::ManagedBy { label, mut operators },
                Self::ManagedBy { label: other_label, operators: others },
            ) if label == other_label => {
                operators.extend(others);
                Self::ManagedBy { label, operators }
            }
            _ => Self::Everything,
        }
    }

    fn selector(&self) -> Option<String> {
        match self {
            Self::Everything => None,
            Self::ManagedBy { label, operators } => {
                let operators: Vec<&str> = operators.iter().map(String::as_str).collect();
                Some(format!("{label} in ({})", operators.join(",")))
            }
        }
    }
}

/// One watch per type, whose selector is the union of what the operators need.
pub(super) fn watches(configs: &[&OperatorConfig]) -> BTreeMap<K8sType, Vec<WatchSpec>> {
    let mut needs: BTreeMap<K8sType, Need> = BTreeMap::new();
    for config in configs {
        for (ty, need) in needs_of(config) {
            let union = match needs.remove(&ty) {
                Some(earlier) => earlier.union(need),
                None => need,
            };
            needs.insert(ty, union);
        }
    }
    needs.into_iter().map(|(ty, need)| (ty.clone(), vec![watch(ty, &need)])).collect()
}

fn needs_of(config: &OperatorConfig) -> Vec<(K8sType, Need)> {
    let child = |ty: &K8sType| {
        let operators = BTreeSet::from([config.name.clone()]);
        let label = config.labels.managed_by.clone();
        (ty.clone(), Need::ManagedBy { label, operators })
    };
    let children = config.children.iter().map(|declared| child(&declared.ty));
    std::iter::once((config.parent.clone(), Need::Everything)).chain(children).collect()
}

fn watch(ty: K8sType, need: &Need) -> WatchSpec {
    WatchSpec { ty, namespace: None, label_selector: need.selector() }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};

    use super::*;
    use crate::operator::ChildConfig;

    fn selector(configs: &[&OperatorConfig], ty: &K8sType) -> Option<String> {
        let watches = watches(configs);
        assert_eq!(watches[ty].len(), 1, "one watch per type");
        watches[ty][0].label_selector.clone()
    }

    #[test]
    fn operators_share_the_watch_of_a_child_type() {
        let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
        let b = OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply());
        assert_eq!(
            selector(&[&a, &b], &K8sType::of::<Pod>()).as_deref(),
            Some("app.kubernetes.io/managed-by in (a,b)")
        );
    }

    #[test]
    fn a_parent_type_is_watched_whole_even_where_it_is_a_child_too() {
        let a = OperatorConfig::of::<ConfigMap>("a");
        let b = OperatorConfig::of::<Secret>("b").child::<ConfigMap>(ChildConfig::apply());
        assert_eq!(selector(&[&a, &b], &K8sType::of::<ConfigMap>()), None);
        assert_eq!(selector(&[&b, &a], &K8sType::of::<ConfigMap>()), None);
    }

    #[test]
    fn operators_with_other_labels_cannot_share_a_selector() {
        let a = OperatorConfig::of::<ConfigMap>("a").child::<Pod>(ChildConfig::apply());
        let mut b = OperatorConfig::of::<Secret>("b").child::<Pod>(ChildConfig::apply());
        b.labels.managed_by = "example.dev/by".to_owned();
        assert_eq!(selector(&[&a, &b], &K8sType::of::<Pod>()), None);
    }
}
