//! What a strategic merge patch must know of a Go type: how a field is merged, and by which key.
//!
//! The errors are those of a field that the type does not have. Nothing is merged here.

use thiserror::Error;

use super::{
    catalog::{BuiltinType, go_struct},
    go_type::{GoField, GoType},
};
use crate::schema::go_value::quote;

/// The Go type of a value that is patched.
#[derive(Debug, Clone)]
pub struct PatchType(GoType);

/// How a field is patched.
#[derive(Debug, Clone)]
pub struct PatchField {
    /// The type of the field; of a list, that of an element.
    pub ty: PatchType,
    /// The strategy beside `retainKeys`: `merge`, `replace` or none.
    pub strategy: &'static str,
    /// The field by which elements of a list are distinguished; empty for scalars.
    pub merge_key: &'static str,
}

/// Why there is nothing known of a field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchFieldError {
    /// The value is not of a struct.
    #[error("merging an object in json but data type is not struct, instead is: {0}")]
    NoStruct(&'static str),
    /// The struct has no such field.
    #[error("unable to find api field in struct {0} for the json field {key}", key = quote(.1))]
    NoField(&'static str, String),
    /// The field is no list; of the type that has it only the kind is named.
    #[error("expected slice or array type, but got: {0}")]
    NoList(&'static str),
    /// The elements of the list are lists.
    #[error("unexpected slice of slice")]
    ListOfLists,
}

impl PatchType {
    /// The type of an object.
    pub fn of(ty: &BuiltinType) -> Self {
        Self(GoType::Struct(ty.root))
    }

    /// The field that holds an object or a map.
    pub fn field(&self, key: &str) -> Result<PatchField, PatchFieldError> {
        let ty = match &self.0 {
            GoType::Pointer(inner) => &**inner,
            ty => ty,
        };
        let name = match ty {
            GoType::Struct(name) => *name,
            _ if kind(ty) == "struct" => {
                return Err(PatchFieldError::NoField(special(ty), key.to_owned()));
            }
            _ => return Err(PatchFieldError::NoStruct(kind(ty))),
        };
        let last = || name.rsplit('.').next().unwrap_or_default();
        let field =
            find(name, key).ok_or_else(|| PatchFieldError::NoField(last(), key.to_owned()))?;
        Ok(PatchField {
            ty: Self(field.ty.clone()),
            strategy: strategy(field),
            merge_key: field.patch_merge_key.unwrap_or_default(),
        })
    }

    /// The field that holds a list.
    pub fn list(&self, key: &str) -> Result<PatchField, PatchFieldError> {
        let field = self.field(key)?;
        let element = match field.ty.0 {
            GoType::List(element) if kind(&element) == "slice" => {
                return Err(PatchFieldError::ListOfLists);
            }
            GoType::List(element) => *element,
            GoType::Bytes => GoType::Int32,
            GoType::Pointer(inner) => match *inner {
                GoType::List(element) => *element,
                other => other,
            },
            _ => return Err(PatchFieldError::NoList(kind(&self.0))),
        };
        Ok(PatchField { ty: Self(element), ..field })
    }

    /// What Go calls the kind of the type: `struct`, `ptr`, `map`.
    pub fn kind(&self) -> &'static str {
        kind(&self.0)
    }
}

/// The field of this name, else the first whose name differs in upper and lower case only.
fn find(name: &'static str, key: &str) -> Option<&'static GoField> {
    let fields = &go_struct(name).fields;
    fields.get(key).or_else(|| {
        fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, field)| field)
    })
}

/// Strategies are combined: `merge,retainKeys`. What `retainKeys` means is said by the patch.
fn strategy(field: &'static GoField) -> &'static str {
    let all = field.patch_strategy.unwrap_or_default();
    all.split(',').find(|strategy| *strategy != "retainKeys").unwrap_or_default()
}

fn kind(ty: &GoType) -> &'static str {
    match ty {
        GoType::String => "string",
        GoType::Bool => "bool",
        GoType::Int32 => "int32",
        GoType::Int64 => "int64",
        GoType::Float64 => "float64",
        GoType::Bytes | GoType::List(_) => "slice",
        GoType::Map(_) => "map",
        GoType::Pointer(_) => "ptr",
        GoType::Struct(_)
        | GoType::Quantity
        | GoType::IntOrString
        | GoType::Time
        | GoType::MicroTime
        | GoType::Any => "struct",
    }
}

/// The names of the structs that JSON sees as something else.
fn special(ty: &GoType) -> &'static str {
    match ty {
        GoType::Quantity => "Quantity",
        GoType::IntOrString => "IntOrString",
        GoType::MicroTime => "MicroTime",
        GoType::Time => "Time",
        _ => "RawExtension",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::catalog;

    fn deployment() -> PatchType {
        PatchType::of(catalog::find("apps", "v1", "Deployment").unwrap())
    }

    #[test]
    fn combined_strategies_are_told_apart() {
        let pod = deployment().field("spec").unwrap().ty.field("template").unwrap().ty;
        let volumes = pod.field("spec").unwrap().ty.list("volumes").unwrap();
        assert_eq!((volumes.strategy, volumes.merge_key), ("merge", "name"));
        let strategy = deployment().field("spec").unwrap().ty.field("strategy").unwrap();
        assert_eq!((strategy.strategy, strategy.merge_key), ("", ""));
    }

    #[test]
    fn what_is_not_known_is_said_in_the_words_of_the_real_server() {
        let said = |error: PatchFieldError| error.to_string();
        let spec = deployment().field("spec").unwrap().ty;
        assert_eq!(
            said(spec.field("x").unwrap_err()),
            "unable to find api field in struct DeploymentSpec for the json field \"x\""
        );
        let labels = deployment().field("metadata").unwrap().ty.field("labels").unwrap().ty;
        assert_eq!(
            said(labels.field("a").unwrap_err()),
            "merging an object in json but data type is not struct, instead is: map"
        );
        let paused = spec.list("paused").unwrap_err();
        assert_eq!(said(paused), "expected slice or array type, but got: struct");
    }
}
