//! The name of an operator, which is its identity in the cluster.

use std::{fmt, sync::Arc};

/// The name of an operator: label value, field manager and part of its finalizer. After the name of
/// a deployed operator is changed, its existing children are not its own any more.
///
/// A DNS label: at most 63 lower-case letters, digits and `-`, beginning and ending with a letter
/// or digit.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorName(Arc<str>);

/// A name is not a DNS label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an operator name: at most 63 lower-case letters, digits and `-`, \
     beginning and ending with a letter or digit"
)]
pub struct InvalidName(pub String);

impl OperatorName {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, InvalidName> {
        let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let is_label = !name.is_empty()
            && name.len() <= 63
            && name.bytes().all(inner)
            && !name.starts_with('-')
            && !name.ends_with('-');
        is_label.then(|| Self(Arc::from(name))).ok_or_else(|| InvalidName(name.to_owned()))
    }

    /// The name as text: also the field manager and the value of the managed-by label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_dns_label() {
        for good in ["a", "echo-server", "a1", &"x".repeat(63)] {
            assert!(OperatorName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a_b", "ä", &"x".repeat(64)] {
            assert_eq!(OperatorName::new(bad), Err(InvalidName(bad.to_owned())));
        }
    }
}
