//! Where a value is, and the errors that name the place.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath, correlation::Pair, go_value};

/// Where a value is.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    /// The path of the value that is validated as a whole.
    pub(super) base: &'a FieldPath,
    /// The rest of the path, as sentences show it.
    pub(super) name: String,
    /// The value and the one that it replaces, if that is known.
    pub(super) pair: Option<Pair<'a>>,
}

impl<'a> Place<'a> {
    pub(super) fn path(&self) -> FieldPath {
        match self.name.trim_start_matches('.') {
            "" => self.base.clone(),
            name => self.base.child(name),
        }
    }

    pub(super) fn property(&self, name: &str) -> Self {
        let whole =
            if self.name.is_empty() { name.to_owned() } else { format!("{}.{name}", self.name) };
        self.inner(whole, |pair| pair.key(name))
    }

    pub(super) fn value(&self, name: &str) -> Self {
        self.inner(format!("{}.{name}", self.name), |pair| pair.key(name))
    }

    pub(super) fn element(&self, index: usize) -> Self {
        self.inner(format!("{}[{index}]", self.name), |pair| pair.index(index))
    }

    fn inner(&self, name: String, pair: impl FnOnce(Pair<'a>) -> Option<Pair<'a>>) -> Self {
        Self { base: self.base, name, pair: self.pair.and_then(pair) }
    }

    pub(super) fn invalid(&self, value: &Value, detail: &str) -> FieldError {
        FieldError::invalid(&self.path(), value, format!("{} in body {detail}", self.name))
    }

    /// The same, with the whole sentence.
    pub(super) fn invalid_as(&self, value: &Value, sentence: String) -> FieldError {
        FieldError::invalid(&self.path(), value, sentence)
    }

    /// An error that kube-apiserver attributes to no field.
    pub(super) fn plain(&self, sentence: String) -> FieldError {
        FieldError::invalid(self.base, &Value::from(""), sentence)
    }

    pub(super) fn wrong_type(&self, expected: &str, actual: &str) -> FieldError {
        let shown = go_value::quote(actual);
        let detail = format!("{} in body must be of type {expected}: {shown}", self.name);
        FieldError::type_invalid(&self.path(), &Value::from(actual), detail)
    }
}
