//! Where an operator works.

use std::collections::BTreeSet;

/// The namespaces whose parents an operator answers for, children included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Namespaces {
    /// All of them, those that are yet to come too.
    #[default]
    All,
    /// These; nothing outside is read or written.
    Only(BTreeSet<String>),
}

impl Namespaces {
    /// Whether the operator answers for parents there; `None` is where cluster-scoped objects are.
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

    /// The first name that is no DNS label.
    pub(super) fn misnamed(&self) -> Option<&str> {
        let is_good = |name: &&String| super::OperatorName::new(name).is_ok();
        self.names()?.iter().find(|name| !is_good(name)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_namespaces_are_not_the_cluster() {
        let only = Namespaces::Only(BTreeSet::from(["a".to_owned()]));
        assert!(only.include(Some("a")) && !only.include(Some("b")) && !only.include(None));
        assert!(Namespaces::All.include(Some("b")) && Namespaces::All.include(None));
    }

    #[test]
    fn a_name_that_no_namespace_can_have_is_found() {
        let named = |name: &str| Namespaces::Only(BTreeSet::from([name.to_owned()]));
        assert_eq!(named("team-a").misnamed(), None);
        for bad in ["", "A", "a/b", "a.b"] {
            assert_eq!(named(bad).misnamed(), Some(bad));
        }
    }
}
