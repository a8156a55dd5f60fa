//! Texts in quotes, with the escapes of Go.

/// What a text between these quotes stands for; `None` if it is wrong.
pub(super) fn unquote(text: &str, quote: char) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let meant = match character {
            '\\' => escape(characters.next()?, &mut characters, quote)?,
            plain => Meant::Character(Some(plain).filter(|plain| *plain != quote)?),
        };
        match meant {
            Meant::Byte(byte) => bytes.push(byte),
            Meant::Character(character) => {
                bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    // A byte that is no text is lost in the JSON of an answer.
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

enum Meant {
    Byte(u8),
    Character(char),
}

fn escape(first: char, rest: &mut std::str::Chars<'_>, quote: char) -> Option<Meant> {
    Some(Meant::Character(match first {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        '\'' | '"' if first == quote => first,
        'x' => return byte(digits(rest, 2, 16, 0)?),
        '0'..='7' => return byte(digits(rest, 2, 8, first.to_digit(8)?)?),
        'u' => char::from_u32(digits(rest, 4, 16, 0)?)?,
        'U' => char::from_u32(digits(rest, 8, 16, 0)?)?,
        _ => return None,
    }))
}

fn byte(code: u32) -> Option<Meant> {
    u8::try_from(code).ok().map(Meant::Byte)
}

/// The number that so many digits behind `first` are.
fn digits(rest: &mut std::str::Chars<'_>, count: usize, radix: u32, first: u32) -> Option<u32> {
    (0..count).try_fold(first, |number, _| {
        number.checked_mul(radix)?.checked_add(rest.next()?.to_digit(radix)?)
    })
}
