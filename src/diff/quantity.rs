//! Kubernetes quantities, read exactly: `0.1` is `100m`, `1Gi` is `1024Mi`.
//! Not `kube_quantity`: that reads them as `f64`, and `Gi` as zero.

use serde_json::Value;

/// Whether two values are the same amount. A value that is no quantity, or too large or too fine to
/// be read exactly, is equal only to the same text.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    a == b || nanos_of(a).is_some_and(|nanos| nanos_of(b) == Some(nanos))
}

/// The sum of two amounts, as a whole number, or in thousandths; `None` where one is no quantity, or is finer.
pub(crate) fn sum(a: &str, b: &str) -> Option<String> {
    const MILLI: i128 = 1_000_000;
    let sum = nanos(a)?.checked_add(nanos(b)?)?;
    let (thousandths, rest) = (sum / MILLI, sum % MILLI);
    match (rest, thousandths % 1000) {
        (0, 0) => Some((thousandths / 1000).to_string()),
        (0, _) => Some(format!("{thousandths}m")),
        _ => None,
    }
}

fn nanos_of(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => nanos(text),
        Value::Number(number) => nanos(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn nanos(text: &str) -> Option<i128> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let (factor, exponent) = unit(suffix)?;
    let exponent = exponent.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    scale(digits.checked_mul(factor)?, exponent)?.checked_mul(sign)
}

/// The factor and the power of ten that a suffix stands for.
fn unit(suffix: &str) -> Option<(i128, i32)> {
    let decimal = |exponent| Some((1, exponent));
    let binary = |power: u32| Some((1 << (10 * power), 0));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => decimal(suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    }
}

fn scale(number: i128, exponent: i32) -> Option<i128> {
    let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
    match exponent {
        0.. => number.checked_mul(power),
        _ => (number % power == 0).then(|| number / power),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_amount_is_recognized_in_every_notation() {
        for (a, b) in [
            (json!("0.1"), json!("100m")),
            (json!("1Gi"), json!("1024Mi")),
            (json!("1.5Gi"), json!("1536Mi")),
            (json!(1), json!("1000m")),
            (json!(0.5), json!("500m")),
            (json!("1e3"), json!("1k")),
            (json!("1E3"), json!("1000")),
            (json!("12e-1"), json!("1.2")),
            (json!("-1"), json!("-1000m")),
            (json!("0"), json!("0Gi")),
            (json!("2E"), json!("2000P")),
            (json!(".5"), json!("500m")),
        ] {
            assert!(same(&a, &b), "{a} {b}");
        }
    }

    #[test]
    fn other_amounts_and_other_texts_differ() {
        for (a, b) in [
            (json!("1"), json!("1m")),
            (json!("1G"), json!("1Gi")),
            (json!("1Kb"), json!("1K")),
            (json!(""), json!("0")),
            (json!("."), json!("0")),
            (json!("1.2.3"), json!("1.23")),
            (json!("99999999999999999999999999999999Ei"), json!("1")),
            (json!("1e99999999"), json!("1")),
            (json!("1e2147483647"), json!("1")),
            (json!("0.1e-2147483648"), json!("1")),
            (json!(true), json!("1")),
        ] {
            assert!(!same(&a, &b), "{a} {b}");
        }
    }

    #[test]
    fn any_text_is_a_quantity_or_none() {
        const TOKENS: [&str; 18] = [
            "1",
            "0",
            ".",
            "-",
            "+",
            "e",
            "E",
            "n",
            "m",
            "k",
            "Ki",
            "Ei",
            "2147483647",
            "-2147483648",
            "170141183460469231731687303715884105727",
            "000000000000",
            " ",
            "9",
        ];
        let parser = |text: &str| {
            let _ = (nanos(text), same(&json!(text), &json!("1")));
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
