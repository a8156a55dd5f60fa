//! Quantities (`500m`, `1Gi`) in the canonical form that the server writes.
//!
//! Invalid quantities, or those too large for 128 bits of billionths, are not changed.
//! Not `kube_quantity`: that reads them as `f64`, and does not write this form.

use std::cmp::Ordering;

use serde_json::Value;

/// How a quantity was written, which decides how it is written back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Decimal,
    Binary,
    Exponent,
}

/// A quantity in billionths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity {
    nanos: i128,
    format: Format,
}

const NANO: i128 = 1_000_000_000;
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Writes a quantity as the server would.
pub(crate) fn canonicalise(value: &mut Value) {
    if let Some(quantity) = Quantity::of(value) {
        *value = Value::from(quantity.to_string());
    }
}

/// The same for the values of a resource list, which are rounded up to thousandths.
pub(crate) fn canonicalise_resource(value: &mut Value) {
    if let Some(quantity) = Quantity::of(value)
        && let Some(nanos) = ceil_to(quantity.nanos, NANO / 1000)
    {
        *value = Value::from(Quantity { nanos, ..quantity }.to_string());
    }
}

impl Quantity {
    /// The quantity that a JSON string or number stands for.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    /// Reads a quantity; what is below a billionth is rounded up.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end =
            unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (digits, suffix) = unsigned.split_at(end);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let (base, power, format) = scale(suffix)?;
        let places = 9_i32.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let nanos = if base == 10 {
            shift_ten(mantissa, power.checked_add(places)?)?
        } else {
            shift_ten(mantissa.checked_mul(1_i128.checked_shl(power.unsigned_abs())?)?, places)?
        };
        Some(Self { nanos: if negative { -nanos } else { nanos }, format })
    }

    /// Compares by value, however written.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// The sum, written as the first.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos), ..self }
    }

    /// The difference, written as the first.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_sub(other.nanos), ..self }
    }

    /// A whole number.
    pub(crate) fn whole(number: i64) -> Self {
        Self { nanos: i128::from(number) * NANO, format: Format::Decimal }
    }

    /// The whole number that this is, if it is one.
    pub(crate) fn as_whole(self) -> Option<i64> {
        (self.nanos % NANO == 0).then(|| i64::try_from(self.nanos / NANO).ok()).flatten()
    }

    /// The nearest float.
    #[expect(clippy::cast_precision_loss, reason = "as the real server, which is approximate too")]
    pub(crate) fn as_float(self) -> f64 {
        if self.nanos % NANO == 0 {
            return (self.nanos / NANO) as f64;
        }
        self.nanos as f64 / NANO as f64
    }

    /// The whole number next to this, away from zero.
    pub(crate) fn rounded(self) -> i128 {
        ceil_to(self.nanos, NANO).unwrap_or(self.nanos) / NANO
    }

    /// Whether the quantity is a whole number.
    pub(crate) fn is_whole(self) -> bool {
        self.nanos % NANO == 0
    }

    /// Whether the quantity is above zero.
    pub(crate) fn is_positive(self) -> bool {
        self.nanos > 0
    }

    /// Whether the quantity is below zero.
    pub(crate) fn is_negative(self) -> bool {
        self.nanos < 0
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        let whole = self.nanos / NANO;
        let is_binary =
            self.format == Format::Binary && self.nanos % NANO == 0 && whole.unsigned_abs() >= 1024;
        if is_binary {
            let (number, power) = reduce(whole, 1024, BINARY.len() - 1);
            return write!(f, "{number}{}", BINARY[power]);
        }
        let (number, power) = reduce(self.nanos, 1000, DECIMAL.len() - 1);
        if self.format == Format::Exponent && power != 3 {
            let exponent = 3 * i64::try_from(power).unwrap_or(0) - 9;
            return write!(f, "{number}e{exponent}");
        }
        write!(f, "{number}{}", DECIMAL[power])
    }
}

/// Divides by `base` while nothing is lost, at most `limit` times.
fn reduce(mut number: i128, base: i128, limit: usize) -> (i128, usize) {
    let mut power = 0;
    while number % base == 0 && power < limit {
        number /= base;
        power += 1;
    }
    (number, power)
}

/// The base, power and format that a suffix stands for.
fn scale(suffix: &str) -> Option<(u32, i32, Format)> {
    let position = |list: &[&str]| list.iter().position(|s| *s == suffix);
    if let Some(index) = position(&DECIMAL) {
        return Some((10, 3 * i32::try_from(index).ok()? - 9, Format::Decimal));
    }
    if let Some(index) = position(&BINARY) {
        return Some((2, 10 * i32::try_from(index).ok()?, Format::Binary));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((10, exponent, Format::Exponent))
}

fn shift_ten(number: i128, power: i32) -> Option<i128> {
    let factor = 10_i128.checked_pow(power.unsigned_abs());
    if power >= 0 {
        return number.checked_mul(factor?);
    }
    match factor {
        Some(factor) => Some(ceil_to(number, factor)? / factor),
        None => Some(i128::from(number > 0)),
    }
}

/// Rounds away from zero.
fn ceil_to(number: i128, unit: i128) -> Option<i128> {
    match number % unit {
        0 => Some(number),
        rest if number > 0 => (number - rest).checked_add(unit),
        rest => (number - rest).checked_sub(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_in_the_canonical_form_of_the_server() {
        let table = [
            ("1", "1"),
            ("0", "0"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1000", "1k"),
            ("1024", "1024"),
            ("1024Ki", "1Mi"),
            ("0.5Gi", "512Mi"),
            ("1.5Gi", "1536Mi"),
            ("512Ki", "512Ki"),
            ("0.5Ki", "512"),
            ("0.1Ki", "102400m"),
            ("1e3", "1e3"),
            ("1000e0", "1e3"),
            ("0.0000000001", "1n"),
            ("-1000m", "-1"),
            ("100M", "100M"),
            ("1G", "1G"),
            ("128974848", "128974848"),
        ];
        for (given, canonical) in table {
            let parsed = Quantity::parse(given).map(|q| q.to_string());
            assert_eq!(parsed.as_deref(), Some(canonical), "{given}");
        }
    }

    #[test]
    fn invalid_quantities_are_not_parsed() {
        for text in ["", "x", "1.2.3", "1Kb", "1 Gi", "Gi"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn quantities_of_a_resource_list_are_rounded_up_to_thousandths() {
        let mut value = Value::from("1234u");
        canonicalise_resource(&mut value);
        assert_eq!(value, Value::from("2m"));
    }

    #[test]
    fn any_text_is_a_quantity_or_not_parsed() {
        const TOKENS: [&str; 22] = [
            "1",
            "0",
            "9",
            ".",
            "-",
            "+",
            "e",
            "E",
            "n",
            "u",
            "m",
            "k",
            "Ki",
            "Gi",
            "Ei",
            "E",
            "2147483647",
            "-2147483648",
            "170141183460469231731687303715884105727",
            "000000000000",
            "i",
            " ",
        ];
        let parser = |text: &str| {
            let mut value = Value::from(text);
            canonicalise_resource(&mut value);
            let Some(quantity) = Quantity::parse(text) else { return };
            let written = quantity.to_string();
            assert!(written.len() <= 48, "{written}");
            let again = Quantity::parse(&written).unwrap();
            assert_eq!(again.compare(quantity), Ordering::Equal, "{written}");
            let _ = (quantity.rounded(), quantity.as_whole(), quantity.as_float());
            let _ = (quantity.plus(again), quantity.minus(again));
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
