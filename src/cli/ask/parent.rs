//! The name of a parent, as it is given and as it is part of a path.

use std::{convert::Infallible, fmt, str::FromStr};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// `NAMESPACE/NAME`, or `NAME` for a cluster-scoped parent. The process checks whether it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentName(String);

impl ParentName {
    /// A parent of these names.
    pub(crate) fn new(namespace: Option<&str>, name: &str) -> Self {
        Self(namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}")))
    }

    /// It as the end of a path.
    pub(crate) fn path(&self) -> String {
        self.0.split('/').map(segment).collect::<Vec<_>>().join("/")
    }

    /// It as it was given.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text as one segment of a path, or as the value of a parameter.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

impl FromStr for ParentName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ParentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_given_stays_within_its_segments() {
        let path = |text: &str| text.parse::<ParentName>().unwrap().path();
        assert_eq!(path("shop/menu"), "shop/menu");
        assert_eq!(path("a"), "a");
        assert_eq!(path("../a?b#c"), "%2E%2E/a%3Fb%23c");
    }
}
