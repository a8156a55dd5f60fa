//! What a parent asks for: values, with every namespace resolved.

use std::{fmt, sync::Arc};

use crate::object::{K8sType, LabelSelector, Object, ObjectKey};

/// What a parent reads, type by type as it named them; none twice.
pub(crate) type Asks = Vec<(K8sType, Ask)>;

/// The objects of one type that somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ask {
    /// The object of this name, whether it exists or not.
    Named(ObjectKey),
    /// All objects that match.
    Selected(Arc<Selected>),
}

/// Objects by namespace and labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Selected {
    /// The namespace; `None` for all, and for a cluster-scoped type.
    pub(crate) namespace: Option<Arc<str>>,
    /// The labels; `None` for any.
    pub(crate) selector: Option<LabelSelector>,
}

impl Ask {
    pub(crate) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Named(key) => key.namespace.as_deref(),
            Self::Selected(selected) => selected.namespace.as_deref(),
        }
    }

    /// Whether an object is one of those that are asked for.
    pub(crate) fn includes(&self, object: &Object) -> bool {
        match self {
            Self::Named(key) => key == object.key(),
            Self::Selected(selected) => selected.includes(object),
        }
    }
}

impl Selected {
    /// Whether it is every object of the type.
    pub(crate) fn is_everything(&self) -> bool {
        self.namespace.is_none() && self.selector.is_none()
    }

    fn includes(&self, object: &Object) -> bool {
        let is_here = self.namespace.is_none() || self.namespace.as_deref() == object.namespace();
        is_here && self.selector.as_ref().is_none_or(|it| it.matches(&object.labels()))
    }
}

/// As the page shows it after the type: `shop/ca`, `tier=gold in namespace shop`, `all`.
impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let selected = match self {
            Self::Named(key) => return key.fmt(f),
            Self::Selected(selected) => selected,
        };
        match &selected.selector {
            Some(selector) => selector.fmt(f)?,
            None => f.write_str("all")?,
        }
        match &selected.namespace {
            Some(namespace) => write!(f, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}
