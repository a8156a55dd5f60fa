//! Formats of numbers that others publish: books, cards, colours.

/// Twelve bytes in hexadecimal.
pub(super) fn is_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A card of a known issuer whose check digit is right; anything may stand between the digits.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let number: String = text.chars().filter(char::is_ascii_digit).collect();
    let begins = |from: &str, to: &str| {
        number.get(..from.len()).is_some_and(|start| (from..=to).contains(&start))
    };
    let is_issued = match number.len() {
        13 => begins("4", "4"),
        14 => begins("300", "305") || begins("36", "36") || begins("38", "38"),
        15 => {
            begins("34", "34")
                || begins("37", "37")
                || begins("2131", "2131")
                || begins("1800", "1800")
        }
        16 => {
            begins("4", "4")
                || begins("51", "55")
                || begins("6011", "6011")
                || begins("65", "65")
                || begins("35", "35")
        }
        _ => false,
    };
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let weighed = digits.iter().rev().enumerate();
    let sum: u32 =
        weighed.map(|(at, digit)| if at % 2 == 1 { doubled(*digit) } else { *digit }).sum();
    is_issued && sum.is_multiple_of(10)
}

/// Ten digits, of which the last may be `X`.
pub(super) fn is_isbn10(text: &str) -> bool {
    let symbols = without_spaces(text);
    let digit = |(at, symbol): (usize, char)| match symbol {
        'X' if at == 9 => Some(10),
        _ => symbol.to_digit(10),
    };
    let digits: Option<Vec<u32>> = symbols.chars().enumerate().map(digit).collect();
    digits.is_some_and(|digits| {
        let sum: u32 = digits.iter().zip(1..).map(|(digit, weight)| digit * weight).sum();
        digits.len() == 10 && sum.is_multiple_of(11)
    })
}

/// Thirteen digits.
pub(super) fn is_isbn13(text: &str) -> bool {
    let digits: Option<Vec<u32>> = without_spaces(text).chars().map(|c| c.to_digit(10)).collect();
    digits.is_some_and(|digits| {
        let sum: u32 = digits.iter().zip([1, 3].iter().cycle()).map(|(d, w)| d * w).sum();
        digits.len() == 13 && sum.is_multiple_of(10)
    })
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ' | '-')).collect()
}

/// `rgb(0, 128, 255)`
pub(super) fn is_rgb_color(text: &str) -> bool {
    let inner = text.strip_prefix("rgb(").and_then(|text| text.strip_suffix(')'));
    let is_space = |c: char| matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ');
    let is_share = |part: &str| {
        let part = part.trim_matches(is_space);
        let is_plain = part == "0" || !part.starts_with('0');
        is_plain
            && (1..=3).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok()
    };
    inner.is_some_and(|inner| inner.split(',').count() == 3 && inner.split(',').all(is_share))
}

/// Nine digits in three groups.
pub(super) fn is_social_security_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_have_check_digits() {
        type Case = (fn(&str) -> bool, &'static str, &'static str);
        let cases: [Case; 8] = [
            (is_object_id, "507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901"),
            (is_credit_card, "4111 1111-1111 1111", "4111111111111112"),
            (is_credit_card, "378282246310005", "1234567812345670"),
            (is_isbn10, "0321751043", "0321751044"),
            (is_isbn10, "0-8044-2957-X", "X804429570"),
            (is_isbn13, "978-0321751041", "978-0321751042"),
            (is_rgb_color, "rgb(0, 10,255)", "rgb(0,010,256)"),
            (is_social_security_number, "123-45 6789", "123456789"),
        ];
        for (check, right, wrong) in cases {
            assert!(check(right), "{right}");
            assert!(!check(wrong), "{wrong}");
        }
    }
}
