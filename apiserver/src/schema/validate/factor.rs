//! `multipleOf`, as a keyword of JSON Schema.
//!
//! kube-apiserver cuts the factor to an integer for an integer, and then refuses every integer when nothing is
//! left of it.

use jsonschema::{Keyword, ValidationError, paths::Location};
use serde_json::{Map, Value};

/// The name of the keyword, and its error; its value is the factor.
pub(super) const KEYWORD: &str = "x-multiple-of";

struct Factor(f64);

/// Makes the keyword from its value.
#[expect(clippy::unnecessary_wraps, reason = "the signature that jsonschema asks for")]
pub(super) fn compile<'a>(
    _parent: &'a Map<String, Value>,
    value: &'a Value,
    _path: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(Factor(value.as_f64().unwrap_or_default())))
}

/// The factor that applies to a number.
pub(super) fn for_number(factor: f64, number: &Value) -> f64 {
    if number.is_i64() { factor.trunc() } else { factor }
}

impl<'i> Keyword<'i> for Factor {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom(KEYWORD)) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let Some(number) = instance.as_f64() else { return true };
        let factor = for_number(self.0, instance);
        factor > 0.0 && is_whole(if factor < 1.0 { 1.0 / factor * number } else { number / factor })
    }
}

/// Whether a number is whole, but for what floats lose.
fn is_whole(number: f64) -> bool {
    let off = (number - number.round()).abs();
    off == 0.0 || off < 1e-9 * number.abs().max(1e-300)
}
