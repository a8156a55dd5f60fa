//! Names that the API server takes as a finalizer, or as the name of a label or annotation, and values of
//! labels.

/// Whether a text is a name, perhaps after a DNS prefix and `/`.
pub(crate) fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').unwrap_or(("prefix", text));
    is_part(prefix, 253, |c| matches!(c, b'-' | b'.')) && is_name(name)
}

/// Whether a text may be the value of a label.
pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

fn is_name(text: &str) -> bool {
    is_part(text, 63, |c| matches!(c, b'-' | b'_' | b'.'))
}

fn is_part(part: &str, most: usize, inner: fn(u8) -> bool) -> bool {
    let ends = [part.bytes().next(), part.bytes().next_back()];
    let has_ends = ends.iter().all(|end| end.is_some_and(|end| end.is_ascii_alphanumeric()));
    has_ends && part.len() <= most && part.bytes().all(|c| c.is_ascii_alphanumeric() || inner(c))
}
