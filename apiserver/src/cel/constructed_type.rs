//! The types of objects that expressions construct: `Object{..}` and its parts for what a policy applies,
//! `JSONPatch{..}` for one operation of a patch.

use super::ty::Type;

/// The type of an operation.
pub(super) const OPERATION: &str = "JSONPatch";
/// The type of a whole object, and the prefix of the types of its parts.
const OBJECT: &str = "Object";
/// Whether objects of a type can be constructed.
pub(super) fn is_type(name: &str) -> bool {
    name == OPERATION || name == OBJECT || name.starts_with("Object.")
}

/// The type of a field of a constructed object, if the object can have that field.
pub(super) fn field_type(name: &str, field: &str) -> Option<Type> {
    match field {
        "op" | "path" | "from" if name == OPERATION => Some(Type::String),
        "value" if name == OPERATION => Some(Type::Dyn),
        _ if name == OPERATION => None,
        _ => Some(Type::Dyn),
    }
}

/// The type of a list of operations.
pub(super) fn patch_type() -> Type {
    Type::list(Type::Named(OPERATION.into()))
}

/// The type of a whole object.
pub(super) fn object_type() -> Type {
    Type::Named(OBJECT.into())
}
