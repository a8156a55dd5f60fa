//! PEM: the blocks of a text, and a block as text.

use base64::{Engine, prelude::BASE64_STANDARD};

/// One block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// `CERTIFICATE`.
    pub(super) label: String,
    /// Whether there are lines before its content.
    pub(super) has_headers: bool,
    /// The content.
    pub(super) bytes: Vec<u8>,
}

/// The well-formed blocks of a text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    // What is between two ends has at most one block, which is behind the last beginning: each piece is read once.
    let mut pieces = text.split("-----END ");
    let mut before = pieces.next().unwrap_or_default();
    let mut found = Vec::new();
    for after in pieces {
        found.extend(block(before, after));
        before = after;
    }
    found
}

/// The block whose label and content end one text and whose label begins the other.
fn block(before: &str, after: &str) -> Option<Block> {
    let (_, begun) = before.rsplit_once("-----BEGIN ")?;
    let (label, content) = begun.split_once("-----")?;
    after.strip_prefix(label)?.strip_prefix("-----")?;
    let has_headers = content.contains(':');
    let body = if has_headers { content.split("\n\n").last().unwrap_or_default() } else { content };
    let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let bytes = BASE64_STANDARD.decode(body).ok()?;
    Some(Block { label: label.to_owned(), has_headers, bytes })
}

/// A block as text.
pub(super) fn text(label: &str, bytes: &[u8]) -> String {
    let content = BASE64_STANDARD.encode(bytes);
    let lines: Vec<&str> =
        (0..content.len()).step_by(64).map(|at| &content[at..content.len().min(at + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_has_blocks_or_none() {
        const TOKENS: [&str; 12] = [
            "-----BEGIN ",
            "-----END ",
            "-----",
            "CERTIFICATE",
            "\n",
            "AAAA",
            "=",
            ":",
            "\n\n",
            "-----BEGIN A-----",
            "-----END A-----",
            " ",
        ];
        let parser = |text: &str| {
            let bytes: usize = blocks(text).iter().map(|block| block.bytes.len()).sum();
            assert!(bytes <= text.len());
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }

    #[test]
    fn a_block_ends_with_its_own_label() {
        let texts = [
            text("A", b"one"),
            "-----BEGIN X-----\n-----END Y-----\n".to_owned(),
            text("B", b"two"),
        ];
        let found: Vec<Vec<u8>> = blocks(&texts.concat()).into_iter().map(|b| b.bytes).collect();
        assert_eq!(found, [b"one", b"two"]);
    }
}
