//! Numbers: their range, which follows from type and format, and their bounds.
//!
//! An integer is compared with the integer part of a bound, any other number with the bound.

use serde_json::{Number, Value};

use super::{node::Node, outcome::Outcome, place::Place};
use crate::schema::{FieldError, SchemaType, go_value};

/// The largest number up to which a float counts without gaps.
const SAFE: f64 = 9_007_199_254_740_991.0;
const I64_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// A number as Go has it.
#[derive(Clone, Copy)]
enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    fn of(number: &Number) -> Self {
        number.as_i64().map_or_else(|| Self::Float(number.as_f64().unwrap_or_default()), Self::Int)
    }

    #[expect(clippy::cast_precision_loss, reason = "as Go does")]
    fn float(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

/// Judges a number.
pub(super) fn judge(node: &Node, number: &Number, at: &Place<'_>) -> Outcome {
    let mut outcome = Outcome::passed();
    let (range, number) = (Range::of(node), Num::of(number));
    if let Some(wrong) = range.wrong(number, "Checked", at) {
        outcome.push(wrong);
    }
    let Some(bounds) = &node.number else { return outcome };
    // A bound out of the range is compared as a general number.
    let mut check =
        |bound: Option<f64>, what: &str, judge: &dyn Fn(Num, f64) -> Option<FieldError>| {
            let Some(bound) = bound else { return };
            let wrong = range.wrong(Num::Float(bound), what, at);
            let number = if wrong.is_some() { Num::Float(number.float()) } else { number };
            for error in wrong.into_iter().chain(judge(number, bound)) {
                outcome.push(error);
            }
        };
    check(bounds.multiple_of, "MultipleOf", &|number, factor| multiple(number, factor, at));
    check(bounds.minimum, "Minimum boundary", &|number, bound| {
        let (rule, is_wrong): (_, fn(f64, f64) -> bool) = if bounds.above_minimum {
            ("greater than", |number, bound| number <= bound)
        } else {
            ("greater than or equal to", |number, bound| number < bound)
        };
        compared(number, bound, rule, is_wrong, at)
    });
    check(bounds.maximum, "Maximum boundary", &|number, bound| {
        let (rule, is_wrong): (_, fn(f64, f64) -> bool) = if bounds.below_maximum {
            ("less than", |number, bound| number >= bound)
        } else {
            ("less than or equal to", |number, bound| number > bound)
        };
        compared(number, bound, rule, is_wrong, at)
    });
    outcome
}

/// The range of the only type.
struct Range<'a> {
    ty: Option<SchemaType>,
    format: &'a str,
}

impl<'a> Range<'a> {
    fn of(node: &'a Node) -> Self {
        let ty = match node.types[..] {
            [ty @ (SchemaType::Integer | SchemaType::Number)] => Some(ty),
            _ => None,
        };
        let format = node.format.as_ref().map_or("", |format| format.name.as_str());
        let known: &[&str] = match ty {
            Some(SchemaType::Integer) => &["int32", "int64"],
            Some(_) => &["float", "double"],
            None => &[],
        };
        Self { ty, format: if known.contains(&format) { format } else { "" } }
    }

    fn wrong(&self, number: Num, what: &str, at: &Place<'_>) -> Option<FieldError> {
        if self.has(number) {
            return None;
        }
        let format = match self.format {
            "" => "(default format)".to_owned(),
            format => format!("with format {format}"),
        };
        let (ty, name) = (self.ty.map_or("", SchemaType::as_str), &at.name);
        Some(at.plain(format!("{what} value must be of type {ty} {format} in {name}")))
    }

    fn has(&self, number: Num) -> bool {
        let fits = |number: i64| self.format != "int32" || i32::try_from(number).is_ok();
        match (self.ty, number) {
            (Some(SchemaType::Integer), Num::Int(number)) => fits(number),
            (Some(SchemaType::Integer), Num::Float(number)) => {
                number.fract() == 0.0 && number.abs() < I64_LIMIT && fits(integer(number))
            }
            #[expect(clippy::cast_possible_truncation, reason = "whether it does is the question")]
            (_, number) => self.format != "float" || (number.float() as f32).is_finite(),
        }
    }
}

fn multiple(number: Num, factor: f64, at: &Place<'_>) -> Option<FieldError> {
    let (is_multiple, factor) = match number {
        Num::Int(number) => {
            let factor = integer(factor);
            (factor > 0 && number % factor == 0, Num::Int(factor))
        }
        Num::Float(number) => {
            let times = if factor < 1.0 { 1.0 / factor * number } else { number / factor };
            (factor > 0.0 && is_whole(times), Num::Float(factor))
        }
    };
    if is_multiple {
        return None;
    }
    let shown = print(factor);
    if factor.float() <= 0.0 {
        let sentence =
            format!("factor MultipleOf declared for {} must be positive: {shown}", at.name);
        return Some(at.invalid_as(&value(factor), sentence));
    }
    Some(at.invalid(&value(number), &format!("should be a multiple of {shown}")))
}

fn compared(
    number: Num,
    bound: f64,
    rule: &str,
    is_wrong: fn(f64, f64) -> bool,
    at: &Place<'_>,
) -> Option<FieldError> {
    let (wrong, bound) = match number {
        // Beyond what a float counts exactly, the two differ by more than it loses.
        Num::Int(number) => {
            (is_wrong_integer(number, integer(bound), is_wrong), Num::Int(integer(bound)))
        }
        Num::Float(number) => (is_wrong(number, bound), Num::Float(bound)),
    };
    wrong.then(|| at.invalid(&value(number), &format!("should be {rule} {}", print(bound))))
}

/// The same comparison of integers: of their order nothing else matters.
fn is_wrong_integer(number: i64, bound: i64, is_wrong: fn(f64, f64) -> bool) -> bool {
    let order = match number.cmp(&bound) {
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => 1.0,
    };
    is_wrong(order, 0.0)
}

/// Whether a float is whole, but for what floats lose.
pub(super) fn is_whole(number: f64) -> bool {
    if !(-SAFE..=SAFE).contains(&number) {
        return false;
    }
    let below = number.trunc();
    if number.fract() == 0.0 {
        return true;
    }
    // The real server cuts to a number without sign, which makes a huge one of a negative one.
    number >= 1.0 && (number - below) / (number + below) < 1e-9
}

/// The integer that Go makes of a number of an object.
pub(super) fn truncated(number: &Number) -> i64 {
    number.as_i64().unwrap_or_else(|| integer(number.as_f64().unwrap_or_default()))
}

#[expect(clippy::cast_possible_truncation, reason = "as Go does")]
fn integer(number: f64) -> i64 {
    number as i64
}

fn value(number: Num) -> Value {
    match number {
        Num::Int(number) => number.into(),
        Num::Float(number) => number.into(),
    }
}

fn print(number: Num) -> String {
    match number {
        Num::Int(number) => number.to_string(),
        Num::Float(number) => go_value::print_float(number),
    }
}
