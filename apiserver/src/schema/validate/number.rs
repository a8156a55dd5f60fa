//! The range of numbers, as a keyword of JSON Schema.
//!
//! Integers must fit into 64 bits, or into what their format says. A whole number that is written
//! as a float is an integer only as far as a float counts without gaps.

use jsonschema::{Keyword, ValidationError, paths::Location};
use serde_json::{Map, Number, Value};

/// The name of the keyword; its value holds the `type` and `format` of the number.
pub(super) const KEYWORD: &str = "x-number";
/// The error about a number that is too large for its type and format.
pub(super) const OUT_OF_RANGE: &str = "out of range";
/// The error about a whole number that a float does not represent exactly.
pub(super) const NOT_AN_INTEGER: &str = "not an integer";
/// Both errors, about a number that is too large for any integer.
pub(super) const NO_INTEGER_AND_OUT_OF_RANGE: &str = "not an integer, out of range";

const I64_LIMIT: f64 = 9_223_372_036_854_775_808.0;
const SAFE: f64 = 9_007_199_254_740_991.0;

struct Range {
    integer: bool,
    format: String,
}

/// Makes the keyword from its value.
#[expect(clippy::unnecessary_wraps, reason = "the signature that jsonschema asks for")]
pub(super) fn compile<'a>(
    _parent: &'a Map<String, Value>,
    value: &'a Value,
    _path: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let format = value["format"].as_str().unwrap_or_default().to_owned();
    Ok(Box::new(Range { integer: value["type"] == "integer", format }))
}

impl Range {
    fn complaint(&self, number: &Number) -> Option<&'static str> {
        if !self.integer {
            let too_large =
                |float: f64| self.format == "float" && float.abs() > f64::from(f32::MAX);
            return number.as_f64().is_some_and(too_large).then_some(OUT_OF_RANGE);
        }
        let Some(float) = number.as_f64().filter(|_| !number.is_i64()) else {
            let fits = number.as_i64().is_none_or(|number| i32::try_from(number).is_ok());
            return (self.format == "int32" && !fits).then_some(OUT_OF_RANGE);
        };
        if number.is_u64() || float.abs() >= I64_LIMIT {
            return Some(NO_INTEGER_AND_OUT_OF_RANGE);
        }
        if float.fract() != 0.0 {
            return Some(OUT_OF_RANGE);
        }
        if float.abs() > SAFE {
            return Some(NOT_AN_INTEGER);
        }
        let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&float);
        (self.format == "int32" && !fits).then_some(OUT_OF_RANGE)
    }
}

impl<'i> Keyword<'i> for Range {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        let complaint = instance.as_number().and_then(|number| self.complaint(number));
        complaint.map_or(Ok(()), |complaint| Err(ValidationError::custom(complaint)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_number().and_then(|number| self.complaint(number)).is_none()
    }
}
