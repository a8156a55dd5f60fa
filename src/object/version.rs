//! Resource versions: compared as integers where both are integers, otherwise only for equality.

use std::{fmt, sync::Arc};

/// The `resourceVersion` of an object, a list or a bookmark.
///
/// Kubernetes promises since 1.35 that versions of one type compare as integers
/// ([KEP-5504](https://github.com/kubernetes/enhancements/issues/5504)). A server that sends
/// something else still works: such versions are equal or not, never older.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum ResourceVersion {
    /// A version that can be ordered.
    Number(u64),
    /// A version that can only be compared for equality.
    Opaque(Arc<str>),
}

impl ResourceVersion {
    /// Reads a version as the server wrote it.
    pub fn new(text: &str) -> Self {
        match text.parse() {
            Ok(number) if !text.starts_with('+') => Self::Number(number),
            _ => Self::Opaque(Arc::from(text)),
        }
    }

    /// Whether `self` is certainly older than `other`.
    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(mine), Self::Number(theirs)) => mine < theirs,
            (Self::Number(_) | Self::Opaque(_), _) => false,
        }
    }

    /// The newer of two; `other` if they cannot be ordered.
    #[must_use]
    pub(crate) fn newest(self, other: Self) -> Self {
        if other.is_older_than(&self) { self } else { other }
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Opaque(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_integers_not_as_text() {
        assert!(ResourceVersion::new("9").is_older_than(&ResourceVersion::new("10")));
        assert!(!ResourceVersion::new("10").is_older_than(&ResourceVersion::new("10")));
    }

    #[test]
    fn versions_that_are_no_integers_are_never_older() {
        let (a, b) = (ResourceVersion::new("a"), ResourceVersion::new("b"));
        assert!(!a.is_older_than(&b) && !b.is_older_than(&a));
        assert!(!ResourceVersion::new("1").is_older_than(&a));
        assert_eq!(a.clone().newest(b.clone()), b);
    }
}
