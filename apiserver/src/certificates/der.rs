//! The distinguished encoding of what certificates hold.

/// A value with its tag and length.
pub(super) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut encoded = vec![tag];
    match content.len() {
        short @ 0..=127 => encoded.extend(u8::try_from(short)),
        long => {
            let bytes: Vec<u8> = long.to_be_bytes().into_iter().skip_while(|b| *b == 0).collect();
            encoded.extend(u8::try_from(bytes.len()).map(|length| length | 0x80));
            encoded.extend(bytes);
        }
    }
    encoded.extend(content);
    encoded
}

/// A sequence.
pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    value(0x30, &parts.concat())
}

/// A positive integer from its bytes.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    if content.first().is_none_or(|byte| byte & 0x80 != 0) {
        content.insert(0, 0);
    }
    value(2, &content)
}

/// A string of whole bytes.
pub(super) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    value(3, &[&[0], bytes].concat())
}

/// A string of bits without those at its end that are zero.
pub(super) fn named_bits(bits: u16) -> Vec<u8> {
    let unused = bits.trailing_zeros();
    let bytes = bits.to_be_bytes();
    let kept = if unused >= 8 { &bytes[..1] } else { &bytes[..] };
    let unused = u8::try_from(unused % 8).unwrap_or_default();
    value(3, &[&[unused], kept].concat())
}

/// An object identifier.
pub(super) fn object_identifier(arcs: &[u64]) -> Vec<u8> {
    let mut content = Vec::new();
    if let [first, second, rest @ ..] = arcs {
        push_arc(&mut content, first * 40 + second);
        for arc in rest {
            push_arc(&mut content, *arc);
        }
    }
    value(6, &content)
}

fn push_arc(content: &mut Vec<u8>, arc: u64) {
    let groups = (0..10).map(|group| u8::try_from(arc >> (7 * group) & 0x7f).unwrap_or_default());
    let mut groups: Vec<u8> = groups.collect();
    while groups.len() > 1 && groups.last() == Some(&0) {
        groups.pop();
    }
    let last = groups.remove(0);
    content.extend(groups.iter().rev().map(|group| group | 0x80));
    content.push(last);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_as_the_standard_says() {
        assert_eq!(
            object_identifier(&[1, 2, 840, 10_045, 4, 3, 2]),
            [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2]
        );
        assert_eq!(integer(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(named_bits(1 << 15 | 1 << 13), [3, 2, 5, 0xa0]);
        assert_eq!(value(4, &[0; 200])[..3], [4, 0x81, 200]);
    }
}
