//! Descriptions as documentation: their words, paragraphs and simple lists.
//!
//! Descriptions are no Rust documentation. An indented line would be a code block, which `cargo test` runs; brackets would be
//! links, and angle brackets HTML. So the text has neither: what has a meaning in Markdown is escaped, and no line begins
//! with spaces, nor has several of them after the mark of a list.

/// What is escaped wherever it stands.
const ESCAPED: [char; 13] = ['\\', '`', '*', '_', '[', ']', '<', '>', '#', '~', '|', '$', '&'];

/// A description as Markdown without code, links and HTML.
pub(crate) fn markdown(description: &str) -> String {
    let lines = description.trim().lines().map(|line| line.split_whitespace().map(escaped));
    let lines: Vec<String> = lines.map(|words| words.collect::<Vec<_>>().join(" ")).collect();
    lines.join("\n")
}

fn escaped(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for c in word.chars().filter(|c| !c.is_control()) {
        if ESCAPED.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_paragraphs_and_lists_stay() {
        let text = "The key.\n\n- one\n- two\n";
        assert_eq!(markdown(text), "The key.\n\n- one\n- two");
    }

    #[test]
    fn nothing_in_a_description_is_code_a_link_or_html() {
        for (text, expected) in [
            ("An example:\n\n    fn main() {}\n\tlet a;", "An example:\n\nfn main() {}\nlet a;"),
            ("-     fn main() {}", "- fn main() {}"),
            ("```\nfn main() {}\n```", "\\`\\`\\`\nfn main() {}\n\\`\\`\\`"),
            ("~~~rust\nx\n~~~", "\\~\\~\\~rust\nx\n\\~\\~\\~"),
            ("see [spec] and [a](b)", "see \\[spec\\] and \\[a\\](b)"),
            ("<name>.<b> &amp; a_b*c*", "\\<name\\>.\\<b\\> \\&amp; a\\_b\\*c\\*"),
            ("# title\r\nC:\\x\u{0}", "\\# title\nC:\\\\x"),
        ] {
            assert_eq!(markdown(text), expected);
        }
    }
}
