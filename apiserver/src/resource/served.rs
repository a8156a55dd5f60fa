//! A resource and its type. Values only.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{forms::Forms, scale_paths::ScalePaths};
use crate::{
    apply::Versions,
    builtin::BuiltinType,
    cel,
    conversion::Converter,
    group_resource::GroupResource,
    schema::{FieldError, FieldPath, LazySchema, PackedSchema, Schema, Validator},
};

/// One resource in one version.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    /// Group and plural name.
    pub id: Arc<GroupResource>,
    /// The resource that objects are stored as; another one only where one kind has two names.
    pub storage: Arc<GroupResource>,
    /// The version that this value describes.
    pub version: String,
    /// The version that objects are stored in.
    pub storage_version: String,
    /// `Pod`.
    pub kind: String,
    /// `PodList`.
    pub list_kind: String,
    /// `pod`.
    pub singular: String,
    /// `po`.
    pub short_names: Vec<String>,
    /// `all`.
    pub categories: Vec<String>,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// Whether `status` is written through its own path only.
    pub has_status: bool,
    /// Where the scale subresource reads and writes; `None` without one.
    pub scale: Option<ScalePaths>,
    /// Whether `metadata.generation` is kept.
    pub has_generation: bool,
    /// What objects look like.
    pub schema: Arc<LazySchema>,
    /// What an object has before anything is set, for built-in types.
    pub empty: Option<Value>,
    /// Grows with every change of the schema: objects written under another epoch are pruned and
    /// defaulted again when they are read.
    pub epoch: u64,
    /// What every answer warns of, for a version that is deprecated.
    pub deprecation: Option<String>,
    /// The columns that `kubectl get` prints between name and age.
    pub columns: Arc<[Column]>,
    /// Where the type comes from.
    pub origin: Origin,
}

const ALL_VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Where a type comes from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// The table of built-in types.
    BuiltIn(&'static BuiltinType),
    /// `CustomResourceDefinition` itself.
    Definition,
    /// A `CustomResourceDefinition`.
    Custom(Arc<CustomType>),
}

/// What only custom resources have.
#[derive(Debug)]
pub(crate) struct CustomType {
    /// The name of the `CustomResourceDefinition`.
    pub definition: String,
    /// What it was made of: the same definition serves the same types.
    pub state: String,
    /// Whether the definition is being deleted: nothing new is created.
    pub is_terminating: bool,
    /// The schema as its author wrote it, for `OpenAPI`.
    pub open_api: Arc<PackedSchema>,
    /// The same for objects.
    pub schema: Arc<LazySchema>,
    /// Those that were needed.
    pub validators: Validators,
    /// What converts objects between versions; without it only their version differs.
    pub converter: Option<Converter>,
    /// All versions of the type, served or not.
    pub forms: Arc<Forms>,
    /// The rules in CEL, if there are any.
    pub rules: Option<cel::Rules>,
    /// JSON paths that field selectors may name, such as `.spec.color`.
    pub selectable_fields: Vec<String>,
}

/// The validators of a custom type, compiled when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct Validators {
    /// By the whole schema.
    whole: OnceLock<Validator>,
    /// By that of the status alone, for writes of the status subresource; `None` without one.
    status: OnceLock<Option<Validator>>,
}

impl CustomType {
    /// Validates objects by the schema.
    pub(crate) fn validator(&self) -> &Validator {
        self.validators.whole.get_or_init(|| validator(&self.schema))
    }

    fn status_validator(&self) -> Option<&Validator> {
        let of_status = || self.schema.properties.get("status").map(|status| validator(status));
        self.validators.status.get_or_init(of_status).as_ref()
    }

    /// The errors of the rules in CEL, which are not evaluated after errors of the schema.
    pub(crate) fn rule_errors(
        &self,
        errors: &[FieldError],
        object: &Value,
        live: Option<&Value>,
    ) -> Vec<FieldError> {
        let Some(rules) = &self.rules else { return Vec::new() };
        if errors.iter().any(|error| error.kind.is_blocking()) {
            let detail = "some validation rules were not checked because the object was invalid; \
                          correct the existing errors to complete validation";
            return vec![FieldError::invalid(&FieldPath::root(), &Value::Null, detail)];
        }
        rules.validate(object, live).0
    }

    /// The errors of a written status of a custom resource.
    pub(crate) fn status_errors(&self, next: &Value, live: &Value) -> Vec<FieldError> {
        match (self.status_validator(), next.get("status")) {
            (Some(validator), Some(status)) => {
                validator.validate_at(&FieldPath::new("status"), status, live.get("status"))
            }
            _ => Vec::new(),
        }
    }
}

impl Versions for CustomType {
    fn convert(&self, object: &Value, to: &str) -> Result<(Value, Arc<Schema>), String> {
        let form = self.forms.get(to);
        let form =
            form.ok_or_else(|| format!("request to convert CR to an invalid group/version: {to}"))?;
        let mut object = object.clone();
        if let Some(converter) = &self.converter {
            object = converter.written(object, to);
        }
        object["apiVersion"] = to.into();
        Ok((object, Arc::clone(form.schema.schema())))
    }
}

/// Definitions with schemas that cannot be compiled were refused.
fn validator(schema: &Schema) -> Validator {
    let compiled = Validator::new(schema.clone());
    debug_assert!(compiled.is_ok(), "{:?}", compiled.as_ref().err());
    compiled.unwrap_or_default()
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// The heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    /// Refines `kind`; may be empty.
    pub format: String,
    /// The description.
    pub description: String,
    /// Columns above zero are printed with `-o wide` only.
    pub priority: i64,
    /// Where the value is.
    pub json_path: String,
}

impl Resource {
    /// `group/version`, or the version alone in the core group.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.id.group, &self.version)
    }

    /// `group/version` of the stored form.
    pub(crate) fn storage_api_version(&self) -> String {
        api_version(&self.storage.group, &self.storage_version)
    }

    /// Whether the real server would have a scale subresource.
    pub(crate) fn has_scale(&self) -> bool {
        match self.origin {
            Origin::BuiltIn(builtin) => builtin.has_scale,
            Origin::Definition | Origin::Custom(_) => self.scale.is_some(),
        }
    }

    /// The verbs of the type.
    pub(crate) fn verbs(&self) -> &[&'static str] {
        match self.origin {
            Origin::BuiltIn(builtin) => &builtin.verbs,
            Origin::Definition | Origin::Custom(_) => &ALL_VERBS,
        }
    }

    /// Whether objects are stored in this form.
    pub(crate) fn is_stored_form(&self) -> bool {
        self.id == self.storage && self.version == self.storage_version
    }

    /// What converts objects of the type, if a webhook does.
    pub(crate) fn converter(&self) -> Option<&Converter> {
        match &self.origin {
            Origin::Custom(custom) => custom.converter.as_ref(),
            Origin::BuiltIn(_) | Origin::Definition => None,
        }
    }

    /// The versions of the type, where their fields differ.
    pub(crate) fn versions(&self) -> Option<&dyn Versions> {
        match &self.origin {
            Origin::Custom(custom) => Some(&**custom),
            Origin::BuiltIn(_) | Origin::Definition => None,
        }
    }

    /// Whether the type comes from a `CustomResourceDefinition`.
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.origin, Origin::Custom(_))
    }
}

fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        _ => format!("{group}/{version}"),
    }
}
