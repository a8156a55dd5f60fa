//! Equality and order of values. Numbers are compared by value, whatever their types.

use std::cmp::Ordering;

use super::val::{Failure, Val, error, no_overload};

/// Whether two values are equal.
pub(in crate::cel) fn equal(a: &Val<'_>, b: &Val<'_>) -> Result<bool, Failure> {
    Ok(match (a, b) {
        (Val::Null, Val::Null) | (Val::Optional(None), Val::Optional(None)) => true,
        (Val::Null, _) | (_, Val::Null) => false,
        (Val::Bool(a), Val::Bool(b)) => a == b,
        (Val::String(a), Val::String(b)) => **a == **b,
        (Val::Bytes(a), Val::Bytes(b)) => a == b,
        (Val::Duration(a), Val::Duration(b)) => a == b,
        (Val::Timestamp(a), Val::Timestamp(b)) => a == b,
        (Val::Type(a), Val::Type(b)) => a == b,
        (Val::List(a), Val::List(b)) => return a.equals(b),
        (Val::Map(a), Val::Map(b)) => return a.equals(b),
        (Val::Constructed(a), Val::Constructed(b)) => return a.equals(b),
        (Val::List(_) | Val::Map(_), _) | (Val::Quantity(..), Val::Quantity(_, true)) => {
            return no_overload();
        }
        (Val::Optional(Some(a)), Val::Optional(Some(b))) => return equal(a, b),
        (Val::Quantity(a, _), Val::Quantity(b, false)) => a.compare(*b) == Ordering::Equal,
        (Val::Ip(a), Val::Ip(b)) => a == b,
        (Val::Cidr(a), Val::Cidr(b)) => a == b,
        (Val::Url(a), Val::Url(b)) => a == b,
        (Val::Semver(a), Val::Semver(b)) => a.precedence(b) == Ordering::Equal,
        (Val::Format(a), Val::Format(b)) => std::ptr::eq(*a, *b),
        (Val::Opaque(a), Val::Opaque(b)) => a == b,
        _ => numbers(a, b) == Some(Some(Ordering::Equal)),
    })
}

/// The order of two values that have one.
pub(in crate::cel) fn compare(a: &Val<'_>, b: &Val<'_>) -> Result<Ordering, Failure> {
    Ok(match (a, b) {
        (Val::Bool(a), Val::Bool(b)) => a.cmp(b),
        (Val::String(a), Val::String(b)) => (**a).cmp(&**b),
        (Val::Bytes(a), Val::Bytes(b)) => a.cmp(b),
        (Val::Duration(a), Val::Duration(b)) => a.cmp(b),
        (Val::Timestamp(a), Val::Timestamp(b)) => a.cmp(b),
        _ => match numbers(a, b) {
            Some(Some(order)) => order,
            Some(None) => return error("NaN values cannot be ordered"),
            None => return no_overload(),
        },
    })
}

/// The order of two numbers; inside, `None` is for what is not a number.
#[expect(clippy::option_option, reason = "no numbers, or numbers without an order")]
fn numbers(a: &Val<'_>, b: &Val<'_>) -> Option<Option<Ordering>> {
    let whole = |value: &Val<'_>| match value {
        Val::Int(value) => Some(i128::from(*value)),
        Val::Uint(value) => Some(i128::from(*value)),
        _ => None,
    };
    Some(match (whole(a), whole(b), a, b) {
        (Some(a), Some(b), ..) => Some(a.cmp(&b)),
        (_, _, Val::Double(a), Val::Double(b)) => a.partial_cmp(b),
        (Some(a), _, _, Val::Double(b)) => with_fraction(a, *b),
        (_, Some(b), Val::Double(a), _) => with_fraction(b, *a).map(Ordering::reverse),
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "numbers out of the range are judged before")]
fn with_fraction(whole: i128, number: f64) -> Option<Ordering> {
    if number.is_nan() {
        return None;
    }
    if number.abs() >= 1e30 {
        return Some(if number > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let floor = number.floor();
    Some(whole.cmp(&(floor as i128)).then(if number > floor {
        Ordering::Less
    } else {
        Ordering::Equal
    }))
}
