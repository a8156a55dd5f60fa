//! Names of fields as identifiers of CEL: `a-b` is `a__dash__b`.

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name is a word of the language.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The identifier of a field; `None` when it cannot have one.
pub(super) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (step, text) = match first {
            '_' if rest.starts_with("__") => (2, "__underscores__"),
            '.' => (1, "__dot__"),
            '-' => (1, "__dash__"),
            '/' => (1, "__slash__"),
            '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => (1, &rest[..1]),
            _ => return None,
        };
        escaped.push_str(text);
        rest = &rest[step..];
    }
    Some(escaped)
}

/// The field that an identifier stands for; `None` for an escape that does not exist.
pub(super) fn unescape(identifier: &str) -> Option<String> {
    let reserved = identifier.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    if let Some(word) = reserved.filter(|word| RESERVED.contains(word)) {
        return Some(word.to_owned());
    }
    let mut name = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some(start) = rest.find("__") {
        name.push_str(&rest[..start]);
        let word = &rest[start + 2..];
        let end = word.find("__")?;
        name.push_str(match &word[..end] {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            _ => return None,
        });
        rest = &word[end + 2..];
    }
    name.push_str(rest);
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_back() {
        for (name, identifier) in [
            ("a", "a"),
            ("a-b", "a__dash__b"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("a__b", "a__underscores__b"),
            ("namespace", "__namespace__"),
            ("a_b", "a_b"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(identifier));
            assert_eq!(unescape(identifier).as_deref(), Some(name));
        }
        assert_eq!(escape("a b"), None);
        assert_eq!(escape("1a"), None);
        assert_eq!(unescape("__nothing__"), None);
    }

    #[test]
    fn any_text_is_a_name_or_none() {
        const TOKENS: [&str; 12] = [
            "a",
            "_",
            "__",
            ".",
            "-",
            "/",
            "__dot__",
            "__x__",
            "namespace",
            "__underscores__",
            "1",
            "é",
        ];
        let parser = |text: &str| {
            drop(unescape(text));
            if let Some(identifier) = escape(text) {
                assert!(identifier.len() <= 15 * text.len());
                drop(unescape(&identifier));
            }
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
