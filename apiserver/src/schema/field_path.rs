//! Where a field is, in the notation that kube-apiserver uses in its messages.

use std::fmt;

/// A path such as `spec.containers[0].env[key].name`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldPath(String);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path that starts with these fields, for example `metadata.labels`.
    pub fn new(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// A field of the object at this path.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self::new(name) } else { Self(format!("{}.{name}", self.0)) }
    }

    /// The value under a free key of the map at this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// An element of the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The list or map that the value at this path is an element of; else the path itself.
    #[must_use]
    pub fn list(&self) -> Self {
        let end = self.0.ends_with(']').then(|| self.0.rfind('[')).flatten();
        Self(self.0[..end.unwrap_or(self.0.len())].to_owned())
    }
}

impl fmt::Display for FieldPath {
    /// The root is `<nil>`, as kube-apiserver prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<nil>" } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keys_and_elements_are_distinguished() {
        let path = FieldPath::new("spec").child("labels").key("a/b").index(2).child("x");
        assert_eq!(path.to_string(), "spec.labels[a/b][2].x");
    }

    #[test]
    fn the_root_is_printed_as_kube_apiserver_prints_it() {
        assert_eq!(FieldPath::root().to_string(), "<nil>");
        assert_eq!(FieldPath::root().child("spec").to_string(), "spec");
    }
}
