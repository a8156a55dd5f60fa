//! The text of a cached object, stored as its differences from texts of the same type. The objects of a type have the same
//! fields, and mostly the same values: what is left is about a tenth.
//!
//! ```text
//! sample:  {"metadata":{"name":"<1>","uid":"<2>","labels":{"app":"<1>"}},"data":{"mark":"first"}}
//! text:    {"metadata":{"name":"web","uid":"9c..","labels":{"app":"web"}},"data":{"mark":"other"}}
//! packed:  copy 0..78, other, copy 83..86
//! ```

use std::{fmt, sync::Arc};

use super::sample::{Own, Sample};

/// The JSON of a cached object.
pub(super) enum Text {
    /// As it is: it is short, very long, a Secret, or like no other of its type.
    Plain(Box<str>),
    /// As pieces of a sample, and what is between them.
    Packed {
        /// The length of the text, then literals and copies in turns.
        bytes: Box<[u8]>,
        sample: Arc<Sample>,
    },
}

impl Text {
    /// The text in pieces of a sample; `None` if less than a quarter would be saved.
    pub(super) fn packed(text: &str, own: &Own, sample: &Arc<Sample>) -> Option<Self> {
        let bytes = pack(text.as_bytes(), own, sample);
        let pays = bytes.len() < text.len() / 4 * 3;
        pays.then(|| Self::Packed { bytes: bytes.into_boxed_slice(), sample: sample.clone() })
    }

    /// How many bytes the text has.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Packed { bytes, .. } => number(&mut &**bytes),
        }
    }

    /// How many bytes are stored of it.
    pub(super) fn stored(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Packed { bytes, .. } => bytes.len(),
        }
    }
}

/// The beginning of a packed text, of at most so many bytes.
///
/// # Panics
/// Never: what is unpacked was packed from a text, and ends where a character does.
pub(super) fn unpack(mut bytes: &[u8], own: &Own, sample: &Sample, most: usize) -> String {
    let most = number(&mut bytes).min(most);
    let mut text = Vec::with_capacity(most + own.longest());
    let mut expected = 0;
    while text.len() < most {
        let literals = number(&mut bytes);
        let (literal, rest) = bytes.split_at(literals);
        text.extend_from_slice(literal);
        bytes = rest;
        if bytes.is_empty() {
            break;
        }
        let start = expected + number(&mut bytes) - number(&mut bytes);
        expected = start + number(&mut bytes);
        sample.restore(start..expected, own, &mut text);
    }
    text.truncate(most);
    String::from_utf8(text).expect("was packed from a text")
}

fn pack(text: &[u8], own: &Own, sample: &Sample) -> Vec<u8> {
    let mut packed = Vec::with_capacity(text.len() / 4);
    push(&mut packed, text.len());
    let (mut at, mut literal, mut expected) = (0, 0, 0);
    while let Some(found) = sample.find(&text[at..], own) {
        at += found.skipped;
        let back = sample.common_before(found.start, &text[literal..at]);
        let start = found.start - back;
        push_literal(&mut packed, &text[literal..at - back]);
        push(&mut packed, start.saturating_sub(expected));
        push(&mut packed, expected.saturating_sub(start));
        push(&mut packed, found.end - start);
        at += found.bytes;
        (literal, expected) = (at, found.end);
    }
    if literal < text.len() {
        push_literal(&mut packed, &text[literal..]);
    }
    packed
}

fn push_literal(packed: &mut Vec<u8>, literal: &[u8]) {
    push(packed, literal.len());
    packed.extend_from_slice(literal);
}

/// Writes a number in as few bytes as it needs, seven bits in each.
fn push(packed: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        packed.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    packed.push(number.to_le_bytes()[0]);
}

/// Reads such a number.
fn number(bytes: &mut &[u8]) -> usize {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

impl fmt::Debug for Text {
    /// Never the text: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes in {}", self.len(), self.stored())
    }
}
