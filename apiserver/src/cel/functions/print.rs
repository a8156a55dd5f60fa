//! `format` of strings.

use crate::cel::value::{Failure, Outcome, Val, error, no_overload};

const PRECISION: usize = 6;

/// `text.format(args)`.
pub(super) fn format<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let [Val::String(text), Val::List(list)] = args else { return no_overload() };
    let mut out = String::new();
    let mut rest = &**text;
    let mut next = 0;
    while let Some(start) = rest.find('%') {
        out.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (precision, after) = precision(rest)?;
        let Some(verb) = after.chars().next() else {
            return error("unexpected end of string");
        };
        if next >= list.len() {
            return error(format!("index {next} out of range"));
        }
        let value = list.get(next)?;
        next += 1;
        out.push_str(&clause(verb, precision, &value)?);
        rest = &after[verb.len_utf8()..];
    }
    out.push_str(rest);
    Ok(Val::text(out))
}

fn precision(text: &str) -> Result<(Option<usize>, &str), Failure> {
    let Some(digits) = text.strip_prefix('.') else { return Ok((None, text)) };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse() {
        // As much as the result may be printed with.
        Ok(precision) if precision <= 1000 => Ok((Some(precision), &digits[end..])),
        _ => error("error while parsing precision: could not convert precision to integer"),
    }
}

fn clause(verb: char, precision: Option<usize>, value: &Val<'_>) -> Result<String, Failure> {
    match verb {
        's' => string(value),
        'd' => match value {
            Val::Int(_) | Val::Uint(_) => Ok(value.to_string()),
            other => mismatch("decimal clause can only be used on integers", other),
        },
        'f' | 'e' => {
            let what = if verb == 'f' { "fixed-point" } else { "scientific" };
            let message = format!("{what} clause can only be used on doubles");
            let Some(number) = float(value) else { return mismatch(&message, value) };
            let precision = precision.unwrap_or(PRECISION);
            Ok(if verb == 'f' { fixed(number, precision) } else { scientific(number, precision) })
        }
        'b' => match value {
            Val::Int(number) if *number < 0 => Ok(format!("-{:b}", number.unsigned_abs())),
            Val::Int(number) => Ok(format!("{number:b}")),
            Val::Uint(number) => Ok(format!("{number:b}")),
            Val::Bool(value) => Ok(u8::from(*value).to_string()),
            other => mismatch("only integers and bools can be formatted as binary", other),
        },
        'o' => match value {
            Val::Int(number) if *number < 0 => Ok(format!("-{:o}", number.unsigned_abs())),
            Val::Int(number) => Ok(format!("{number:o}")),
            Val::Uint(number) => Ok(format!("{number:o}")),
            other => mismatch("octal clause can only be used on integers", other),
        },
        'x' | 'X' => hex(value, verb == 'X'),
        other => error(format!(
            "could not parse formatting clause: unrecognized formatting clause \"{other}\""
        )),
    }
}

fn mismatch<T>(message: &str, value: &Val<'_>) -> Result<T, Failure> {
    error(format!("error during formatting: {message}, was given {}", value.type_name()))
}

fn hex(value: &Val<'_>, upper: bool) -> Result<String, Failure> {
    let bytes =
        |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let text = match value {
        Val::String(text) => bytes(text.as_bytes()),
        Val::Bytes(data) => bytes(data),
        Val::Int(number) if *number < 0 => format!("-{:x}", number.unsigned_abs()),
        Val::Int(number) => format!("{number:x}"),
        Val::Uint(number) => format!("{number:x}"),
        other => {
            let message = "only integers, byte buffers, and strings can be formatted as hex";
            return mismatch(message, other);
        }
    };
    Ok(if upper { text.to_uppercase() } else { text })
}

fn float(value: &Val<'_>) -> Option<f64> {
    match value {
        Val::Double(number) => Some(*number),
        Val::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// In the manner of the United States: thousands are grouped.
fn fixed(number: f64, precision: usize) -> String {
    if !number.is_finite() {
        return if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "∞"
        } else {
            "-∞"
        }
        .to_owned();
    }
    let text = format!("{:.precision$}", number.abs());
    let (whole, fraction) =
        text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = if number.is_sign_negative() { String::from("-") } else { String::new() };
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn scientific(number: f64, precision: usize) -> String {
    if !number.is_finite() {
        return fixed(number, precision);
    }
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |digits| ("⁻", digits));
    let raised = format!("{digits:0>2}");
    let raised: String = raised.chars().map(superscript).collect();
    format!("{mantissa}\u{202f}×\u{202f}10{sign}{raised}")
}

fn superscript(digit: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map_or(digit, |digit| DIGITS[digit as usize])
}

fn string(value: &Val<'_>) -> Result<String, Failure> {
    match value {
        Val::List(_) | Val::Map(_) => literal(value),
        Val::Null
        | Val::Int(_)
        | Val::Uint(_)
        | Val::Double(_)
        | Val::Bool(_)
        | Val::String(_)
        | Val::Timestamp(_)
        | Val::Bytes(_)
        | Val::Duration(_)
        | Val::Type(_) => Ok(value.to_string()),
        other => mismatch(
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
            other,
        ),
    }
}

/// A value inside of a list or map, as it would stand in an expression.
fn literal(value: &Val<'_>) -> Result<String, Failure> {
    Ok(match value {
        Val::List(list) => {
            let items: Result<Vec<_>, Failure> = list.iter().map(|item| literal(&item?)).collect();
            format!("[{}]", items?.join(", "))
        }
        Val::Map(map) => {
            let mut entries = Vec::new();
            for key in map.keys() {
                entries.push((literal(&key)?, literal(&map.get(&key)?)?));
            }
            entries.sort();
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Val::String(text) => crate::schema::go_value::quote(text),
        Val::Bytes(_) => format!("b{}", crate::schema::go_value::quote(&value.to_string())),
        Val::Double(number) if number.is_nan() => "\"NaN\"".to_owned(),
        Val::Double(number) if number.is_infinite() => {
            if *number > 0.0 { "\"+Inf\"" } else { "\"-Inf\"" }.to_owned()
        }
        Val::Double(number) => format!("{number:.PRECISION$}"),
        Val::Timestamp(_) => format!("timestamp(\"{value}\")"),
        Val::Duration(_) => format!("duration(\"{value}\")"),
        Val::Null | Val::Int(_) | Val::Uint(_) | Val::Bool(_) | Val::Type(_) => value.to_string(),
        other => {
            return error(format!(
                "error during formatting: no formatting function for {}",
                other.type_name()
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::value::List;

    #[test]
    fn any_text_is_a_format_or_refused() {
        const TOKENS: [&str; 18] = [
            "%", "%%", "s", "d", "f", "e", "x", "X", "o", "b", ".", ".3", ".1000", ".1001", "%s",
            "%.2f", "text", "é",
        ];
        let values = || {
            let float = Val::Double(-1e300);
            vec![Val::text("a"), Val::Int(-1), float, Val::Bool(true), Val::Null, Val::Uint(7)]
        };
        let parser = |text: &str| {
            if let Ok(Val::String(out)) = format(&[Val::text(text), Val::List(List::own(values()))])
            {
                assert!(out.len() <= text.len() + 6 * 2_000);
            }
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
