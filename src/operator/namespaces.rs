//! The namespaces of an operator.

use std::collections::BTreeSet;

/// The namespaces of an operator's parents and children.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Namespaces {
    /// All, including future ones.
    #[default]
    All,
    /// These; nothing outside is read or written.
    Only(BTreeSet<String>),
}

impl Namespaces {
    /// Whether a namespace is included; `None` stands for cluster-scoped objects.
    pub fn include(&self, namespace: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => namespace.is_some_and(|namespace| names.contains(namespace)),
        }
    }

    /// Their names, if the operator is restricted to some.
    pub fn names(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::All => None,
            Self::Only(names) => Some(names),
        }
    }

    /// The first name that is not a DNS label.
    pub(super) fn invalid_name(&self) -> Option<&str> {
        let is_good = |name: &&String| super::OperatorName::new(name).is_ok();
        self.names()?.iter().find(|name| !is_good(name)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_namespaces_does_not_include_cluster_scoped_objects() {
        let only = Namespaces::Only(BTreeSet::from(["a".to_owned()]));
        assert!(only.include(Some("a")) && !only.include(Some("b")) && !only.include(None));
        assert!(Namespaces::All.include(Some("b")) && Namespaces::All.include(None));
    }

    #[test]
    fn an_invalid_name_of_a_namespace_is_found() {
        let named = |name: &str| Namespaces::Only(BTreeSet::from([name.to_owned()]));
        assert_eq!(named("team-a").invalid_name(), None);
        for bad in ["", "A", "a/b", "a.b"] {
            assert_eq!(named(bad).invalid_name(), Some(bad));
        }
    }
}
