//! Strategic merge patches of built-in types: from a body to a changed object, and the answers to
//! those that cannot be applied.
//!
//! How a patch is merged is decided by [`crate::strategic`].

use bytes::Bytes;
use serde_json::{Map, Value};

use super::decode;
use crate::{
    builtin::{self, BuiltinType, PatchType},
    json_patch,
    resource::{Origin, Resource},
    schema::{FieldError, FieldPath},
    status::StatusError,
    strategic::{self, StrategicError},
    write::{Complaints, FieldValidation},
};

/// A patch that has not been read yet: of an object that does not exist it never is.
#[derive(Debug)]
pub(super) struct StrategicPatch {
    ty: &'static BuiltinType,
    body: Bytes,
    validation: FieldValidation,
}

impl StrategicPatch {
    /// A patch of this resource; `None` if its type does not say how it is merged.
    pub(super) fn of(
        resource: &Resource,
        body: &Bytes,
        validation: FieldValidation,
    ) -> Option<Self> {
        let ty = match resource.origin {
            Origin::BuiltIn(ty) => ty,
            Origin::Definition => {
                builtin::find(&resource.id.group, &resource.version, &resource.kind)?
            }
            Origin::Custom(_) => return None,
        };
        Some(Self { ty, body: body.clone(), validation })
    }

    /// The object after the patch, and what is wrong with the text of the patch.
    pub(super) fn applied_to(&self, live: &Value) -> Result<(Value, Complaints), StatusError> {
        let (mut patch, complaints) = read(&self.body)?;
        let live = live.as_object().cloned().unwrap_or_default();
        let next = strategic::patch(&PatchType::of(self.ty), live, &mut patch).map_err(refusal)?;
        let mut next = Value::Object(next);
        builtin::from_unstructured(self.ty, &mut next)
            .map_err(|why| unreadable(patch.clone(), why))?;
        if self.validation == FieldValidation::Strict {
            self.check_fields(&next, patch, complaints.refusals)?;
            return Ok((next, Complaints::default()));
        }
        Ok((next, complaints))
    }

    fn check_fields(
        &self,
        next: &Value,
        patch: Map<String, Value>,
        mut refusals: Vec<String>,
    ) -> Result<(), StatusError> {
        let mut unknown = builtin::decode(self.ty, next).unwrap_or_default();
        unknown.sort();
        refusals.extend(unknown.iter().map(|path| format!("unknown field \"{path}\"")));
        if refusals.is_empty() {
            return Ok(());
        }
        Err(unreadable(patch, format!("strict decoding error: {}", refusals.join(", "))))
    }
}

fn read(body: &Bytes) -> Result<(Map<String, Value>, Complaints), StatusError> {
    let tree = decode::json(body, |why| StatusError::bad_request(why))?;
    let complaints = tree.duplicates.complaints();
    match tree.value {
        Value::Object(patch) => Ok((patch, complaints)),
        Value::Null => Ok((Map::new(), complaints)),
        other => {
            let why = json_patch::mismatch(&other, "map[string]interface {}");
            Err(StatusError::bad_request(why))
        }
    }
}

/// The answer to a patch whose result is no object of the type.
fn unreadable(patch: Map<String, Value>, why: String) -> StatusError {
    let shown = Value::from(strategic::plain(&Value::Object(patch)));
    let error = FieldError::invalid(&FieldPath::new("patch"), &shown, why);
    StatusError::invalid("", "", "", &[error])
}

#[expect(clippy::needless_pass_by_value, reason = "the argument of map_err")]
fn refusal(error: StrategicError) -> StatusError {
    match error {
        StrategicError::PrimitiveList
        | StrategicError::RetainKeys
        | StrategicError::ElementOrder => StatusError::bad_request(error.to_string()),
        StrategicError::ListOfLists => StatusError::unprocessable_patch(),
        _ => StatusError::internal(error.to_string()),
    }
}
