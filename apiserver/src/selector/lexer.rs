//! The tokens of a label selector.

/// A token and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    In,
    NotIn,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
    Open,
    Close,
    Comma,
    Unknown,
    End,
}

impl Token {
    /// The end.
    pub(super) fn end() -> Self {
        Self { kind: Kind::End, text: String::new() }
    }

    /// Whether this can be a key or a value; `in` and `notin` can.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Identifier | Kind::In | Kind::NotIn)
    }
}

/// The tokens of `text`; the last one is the end.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    // The real server stops reading at a NUL.
    let mut rest = text.split('\0').next().unwrap_or_default();
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else { break };
        let token = if is_symbol(first) { symbol(rest) } else { word(rest) };
        debug_assert!(!token.text.is_empty(), "no progress at {rest:?}");
        rest = &rest[token.text.len()..];
        tokens.push(token);
    }
    tokens.push(Token::end());
    tokens
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(character: char) -> bool {
    matches!(character, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn word(rest: &str) -> Token {
    let end = rest.find(|c| is_space(c) || is_symbol(c)).unwrap_or(rest.len());
    let text = rest[..end].to_owned();
    let kind = match text.as_str() {
        "in" => Kind::In,
        "notin" => Kind::NotIn,
        _ => Kind::Identifier,
    };
    Token { kind, text }
}

/// The longest symbol that is known.
fn symbol(rest: &str) -> Token {
    const SYMBOLS: [(&str, Kind); 9] = [
        ("==", Kind::DoubleEquals),
        ("!=", Kind::NotEquals),
        ("=", Kind::Equals),
        ("!", Kind::Not),
        ("(", Kind::Open),
        (")", Kind::Close),
        (",", Kind::Comma),
        (">", Kind::Greater),
        ("<", Kind::Less),
    ];
    let known = SYMBOLS.iter().find(|(text, _)| rest.starts_with(text));
    let (text, kind) = known.map_or((&rest[..1], Kind::Unknown), |(text, kind)| (*text, *kind));
    Token { kind, text: text.to_owned() }
}
