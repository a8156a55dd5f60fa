//! A value of an object and its place: what a rule reads, and what its errors name.

use std::sync::LazyLock;

use serde_json::Value;

use crate::{
    builtin::path,
    quantity::Quantity,
    schema::{
        FieldError, FieldPath,
        name_rule::{self, NameRule},
    },
};

/// What was found wrong so far.
pub(super) type Errors = Vec<FieldError>;

/// A value and the path to it. An absent value is `null`.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    value: &'a Value,
    at: FieldPath,
}

static EMPTY: Value = Value::String(String::new());
static ZERO: LazyLock<Value> = LazyLock::new(|| Value::from(0));

impl<'a> Field<'a> {
    pub(super) fn new(value: &'a Value, at: &FieldPath) -> Self {
        Self { value, at: at.clone() }
    }

    pub(super) fn root(object: &'a Value) -> Self {
        Self { value: object, at: FieldPath::root() }
    }

    /// A field of this object, `null` if absent.
    pub(super) fn child(&self, name: &str) -> Self {
        let value = self.value.get(name).unwrap_or(&Value::Null);
        Self { value, at: self.at.child(name) }
    }

    /// A field of this object that Go keeps as a string: `""` if absent.
    pub(super) fn string(&self, name: &str) -> Self {
        self.child(name).or(&EMPTY)
    }

    /// A field of this object that Go keeps as a number: `0` if absent.
    pub(super) fn integer(&self, name: &str) -> Self {
        self.child(name).or(&ZERO)
    }

    /// A field of this object, if it has one.
    pub(super) fn given(&self, name: &str) -> Option<Self> {
        Some(self.child(name)).filter(Self::is_given)
    }

    /// The same value under another path: the real server does not always name the right one.
    #[must_use]
    pub(super) fn named(&self, at: FieldPath) -> Self {
        Self { value: self.value, at }
    }

    /// The elements of this list.
    pub(super) fn items(&self) -> Vec<Self> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(index, value)| Self { value, at: self.at.index(index) }).collect()
    }

    /// The entries of this map, by key.
    pub(super) fn entries(&self) -> Vec<(&'a str, Self)> {
        let entries = self.value.as_object().into_iter().flatten();
        let mut entries: Vec<_> = entries
            .map(|(key, value)| (key.as_str(), Self { value, at: self.at.key(key) }))
            .collect();
        entries.sort_by_key(|(key, _)| *key);
        entries
    }

    pub(super) fn at(&self) -> &FieldPath {
        &self.at
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(super) fn number(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    pub(super) fn flag(&self) -> bool {
        self.value.as_bool().unwrap_or_default()
    }

    pub(super) fn quantity(&self) -> Option<Quantity> {
        Quantity::of(self.value)
    }

    pub(super) fn is_given(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether there is nothing, or an empty text, list or map.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    pub(super) fn len(&self) -> usize {
        path::list_of(self.value).len()
    }

    pub(super) fn required(&self, detail: impl Into<String>) -> FieldError {
        FieldError::required(&self.at, detail)
    }

    pub(super) fn invalid(&self, detail: impl Into<String>) -> FieldError {
        FieldError::invalid(&self.at, self.value, detail)
    }

    /// Invalid, without the value.
    pub(super) fn wrong(&self, detail: impl Into<String>) -> FieldError {
        FieldError { value: None, ..self.invalid(detail) }
    }

    /// Invalid, with the value as Go prints it.
    pub(super) fn invalid_as(&self, value: String, detail: impl Into<String>) -> FieldError {
        FieldError { value: Some(value), ..self.invalid(detail) }
    }

    pub(super) fn forbidden(&self, detail: impl Into<String>) -> FieldError {
        FieldError::forbidden(&self.at, detail)
    }

    pub(super) fn duplicate(&self) -> FieldError {
        FieldError::duplicate(&self.at, self.value)
    }

    pub(super) fn not_supported(&self, supported: &[&str]) -> FieldError {
        FieldError::not_supported(&self.at, self.value, supported.iter().copied())
    }

    pub(super) fn too_many(&self, limit: u64) -> FieldError {
        FieldError::too_many(&self.at, self.len(), limit)
    }

    pub(super) fn too_long(&self, limit: u64) -> FieldError {
        FieldError::too_long(&self.at, limit)
    }

    /// What a rule for names finds wrong with this text.
    pub(super) fn follows(&self, rule: NameRule, errors: &mut Errors) {
        errors.extend(rule(self.text(), false).into_iter().map(|detail| self.invalid(detail)));
    }

    /// The same, of a text that may be empty.
    pub(super) fn follows_unless_empty(&self, rule: NameRule, errors: &mut Errors) {
        if !self.is_empty() {
            self.follows(rule, errors);
        }
    }

    /// Whether this is a label key: `name` or `example.com/name`.
    pub(super) fn is_qualified(&self, errors: &mut Errors) {
        let details = name_rule::label_key(self.text());
        errors.extend(details.into_iter().map(|detail| self.invalid(detail)));
    }

    /// Refuses an empty text or list.
    pub(super) fn is_required(&self, detail: &str, errors: &mut Errors) {
        if self.is_empty() {
            errors.push(self.required(detail));
        }
    }

    /// Refuses a number below zero.
    pub(super) fn is_not_negative(&self, errors: &mut Errors) {
        if self.number() < 0 {
            errors.push(self.invalid("must be greater than or equal to 0"));
        }
    }

    /// Refuses a number outside of a range.
    pub(super) fn is_within(&self, least: i64, most: i64, errors: &mut Errors) {
        if !(least..=most).contains(&self.number()) {
            errors.push(self.invalid(format!("must be between {least} and {most}, inclusive")));
        }
    }

    /// Refuses what is none of these.
    pub(super) fn is_one_of(&self, supported: &[&str], errors: &mut Errors) {
        if !supported.contains(&self.text()) {
            errors.push(self.not_supported(supported));
        }
    }

    /// The same, `""` if absent.
    #[must_use]
    pub(super) fn or_empty(self) -> Self {
        self.or(&EMPTY)
    }

    fn or(self, default: &'a Value) -> Self {
        if self.is_given() { self } else { Self { value: default, ..self } }
    }
}
