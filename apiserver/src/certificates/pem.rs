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
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("-----BEGIN ") {
        rest = &rest[at + "-----BEGIN ".len()..];
        let Some((label, after)) = rest.split_once("-----") else { break };
        let end = format!("-----END {label}-----");
        let Some((content, after)) = after.split_once(&end) else { continue };
        rest = after;
        let has_headers = content.contains(':');
        let body =
            if has_headers { content.split("\n\n").last().unwrap_or_default() } else { content };
        let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
        if let Ok(bytes) = BASE64_STANDARD.decode(body) {
            found.push(Block { label: label.to_owned(), has_headers, bytes });
        }
    }
    found
}

/// A block as text.
pub(super) fn text(label: &str, bytes: &[u8]) -> String {
    let content = BASE64_STANDARD.encode(bytes);
    let lines: Vec<&str> =
        (0..content.len()).step_by(64).map(|at| &content[at..content.len().min(at + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
