//! Which rules the schemas of a definition already broke: those are not enforced when it changes.

use serde_json::Value;

use super::{
    defaults,
    inner::{has, type_name},
    list_keys,
    strictness::Strictness,
};
use crate::schema::{FieldPath, SchemaType};

/// The rules that all of these schemas keep.
pub(crate) fn strictness<'a>(schemas: &(impl Iterator<Item = &'a Value> + Clone)) -> Strictness {
    let all = |rule: &dyn Fn(&Value) -> bool| {
        schemas.clone().all(|schema| !has(schema, &|inner| !rule(inner)))
    };
    let nowhere = FieldPath::root();
    Strictness {
        known_types: all(&|schema| {
            let ty = type_name(schema);
            ty.is_empty() || SchemaType::from_open_api(ty).is_some()
        }),
        atomic_sets: all(&|schema| {
            let is_set = schema["x-kubernetes-list-type"] == "set";
            !is_set || list_keys::set_item_error(schema, &nowhere).is_none()
        }),
        given_keys: all(&|schema| list_keys::given_errors(schema, &nowhere).is_empty()),
        pruned_defaults: all(&defaults::is_pruned),
    }
}
