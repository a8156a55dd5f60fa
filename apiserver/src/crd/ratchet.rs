//! What was wrong with a definition before it changed, and so may stay wrong.

use serde_json::Value;

use super::{
    conditions,
    form::{Form, schema},
    webhook,
};
use crate::schema::{Strictness, strictness};

/// What is accepted although it is wrong. The default is that of a new definition.
#[derive(Debug)]
pub(super) struct Allowed {
    /// Versions without a schema.
    pub(super) absent_schemas: bool,
    /// Certificates that cannot be read: they are looked at once the definition is established.
    pub(super) bundle: bool,
    /// Versions of reviews of which the server knows none.
    pub(super) unknown_reviews: bool,
    strictness: Strictness,
    /// The versions whose schema did not change.
    unchanged: Vec<String>,
    /// The versions with too many selectable fields, and `""` if all have them in common.
    many_selectable: Vec<String>,
}

/// What is accepted of the schema of one version.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfVersion<'a> {
    pub(super) strictness: &'a Strictness,
    pub(super) is_unchanged: bool,
}

impl Default for Allowed {
    fn default() -> Self {
        Self {
            absent_schemas: false,
            bundle: true,
            unknown_reviews: false,
            strictness: Strictness::default(),
            unchanged: Vec::new(),
            many_selectable: Vec::new(),
        }
    }
}

impl Allowed {
    /// What is accepted of a definition that was another one before.
    pub(super) fn after(before: &Value, definition: &Value) -> Self {
        let (old, new) = (&before["spec"], &definition["spec"]);
        let (old, new) = (Form::of(old), Form::of(new));
        let schemas = old.versions.iter().map(|version| schema(version));
        let hook = &old.spec["conversion"]["webhook"];
        let is_established = conditions::is_true(before, "Established");
        Self {
            absent_schemas: schemas.clone().any(Value::is_null),
            bundle: !is_established || !webhook::is_bundle(&hook["clientConfig"]["caBundle"]),
            unknown_reviews: !webhook::are_known_or_none(&hook["conversionReviewVersions"]),
            strictness: strictness(&schemas.filter(|schema| !schema.is_null())),
            unchanged: unchanged(&old, &new),
            many_selectable: many_selectable(&old, &new),
        }
    }

    /// What is accepted of the schema of this version.
    pub(super) fn of_version(&self, name: &str) -> OfVersion<'_> {
        let is_unchanged = self.unchanged.iter().any(|unchanged| unchanged == name);
        OfVersion { strictness: &self.strictness, is_unchanged }
    }

    /// Whether a version may have too many selectable fields.
    pub(super) fn has_many_selectable(&self, version: &str) -> bool {
        self.many_selectable.iter().any(|name| name == version)
    }
}

fn unchanged(old: &Form<'_>, new: &Form<'_>) -> Vec<String> {
    pairs(old, new)
        .filter(|(old, new)| old["schema"] == new["schema"])
        .map(|(_, new)| name(new))
        .collect()
}

fn many_selectable(old: &Form<'_>, new: &Form<'_>) -> Vec<String> {
    const FIELD: &str = "selectableFields";
    let are_many = |old: &Value, new: &Value| {
        old == new && old.as_array().is_some_and(|fields| fields.len() > 8)
    };
    let shared = old.shared(FIELD).zip(new.shared(FIELD));
    let shared = shared.filter(|(old, new)| are_many(old.value, new.value)).map(|_| String::new());
    let own = pairs(old, new).filter(|(old, new)| are_many(&old[FIELD], &new[FIELD]));
    shared.into_iter().chain(own.map(|(_, new)| name(new))).collect()
}

/// The versions that both have.
fn pairs<'a>(old: &'a Form<'_>, new: &'a Form<'_>) -> impl Iterator<Item = (&'a Value, &'a Value)> {
    new.versions.iter().filter_map(|new| {
        let before = old.versions.iter().find(|old| old["name"] == new["name"])?;
        Some((*before, *new))
    })
}

fn name(version: &Value) -> String {
    version["name"].as_str().unwrap_or_default().to_owned()
}
