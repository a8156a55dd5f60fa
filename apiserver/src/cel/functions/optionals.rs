//! Values that may be absent.

use std::sync::Arc;

use crate::cel::value::{List, Outcome, Val, error, no_overload};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("optional.none", []) => Ok(Val::Optional(None)),
        ("optional.ofNonZeroValue", [value]) if is_zero(value) => Ok(Val::Optional(None)),
        ("optional.of" | "optional.ofNonZeroValue", [value]) => Ok(Val::some(value.clone())),
        ("hasValue", [Val::Optional(value)]) => Ok(Val::Bool(value.is_some())),
        ("value", [Val::Optional(Some(value))]) => Ok(Val::clone(value)),
        ("value", [Val::Optional(None)]) => error("optional.none() dereference"),
        ("optional.unwrap" | "unwrapOpt", [Val::List(list)]) => {
            let mut present = Vec::new();
            for element in list.iter() {
                let Val::Optional(value) = element? else { return no_overload() };
                present.extend(value.map(Arc::unwrap_or_clone));
            }
            Ok(Val::List(List::own(present)))
        }
        _ => no_overload(),
    }
}

fn is_zero(value: &Val<'_>) -> bool {
    match value {
        Val::Null | Val::Bool(false) | Val::Int(0) | Val::Uint(0) | Val::Duration(0) => true,
        Val::Double(number) => *number == 0.0,
        Val::String(text) => text.is_empty(),
        Val::Bytes(bytes) => bytes.is_empty(),
        Val::List(list) => list.len() == 0,
        Val::Map(map) => map.len() == 0,
        Val::Constructed(object) => object.fields.is_empty(),
        _ => false,
    }
}
