//! Strategic merge patches: a patch that looks like a part of the object, merged into it as the type
//! declares.
//!
//! ```text
//!            patch                                    object
//!              |                                         |
//!   $patch, $retainKeys -- map --+-- scalars replace ----+
//!                                |
//!        $setElementOrder ---- order --+
//!                                      +-- list: by merge key, or as a set
//!    $deleteFromPrimitiveList ---------+
//! ```
//!
//! **Invariants**: a function of values; what is merged how is said by [`PatchType`], not here. The
//! patch loses what was used up, because the real server shows the rest of it in its errors. The
//! result is free JSON: it may have unknown fields and values of the wrong type.

mod directive;
mod error;
mod list;
mod map;
mod order;
mod ordered;
mod wording;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub(crate) use error::StrategicError;
pub(crate) use wording::plain;

use crate::builtin::PatchType;

/// The object after the patch.
pub(crate) fn patch(
    ty: &PatchType,
    object: Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<Map<String, Value>, StrategicError> {
    map::merge(ty, object, patch)
}
