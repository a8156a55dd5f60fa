//! What is wrong with an expression, as the real compiler prints it.

use std::fmt::Write;

/// One error at a place of the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Issue {
    /// From one; zero for what is wrong with the whole.
    pub(super) line: usize,
    /// In characters, from zero.
    pub(super) column: usize,
    pub(super) message: String,
}

/// All issues with their places in the source.
pub(super) fn print(source: &str, mut issues: Vec<Issue>) -> String {
    issues.sort();
    issues.dedup();
    let printed: Vec<_> = issues.iter().map(|issue| issue.print(source)).collect();
    printed.join("\n")
}

impl Issue {
    /// What is wrong with the whole expression.
    pub(super) fn of_all(message: String) -> Self {
        Self { line: 0, column: 0, message }
    }

    fn print(&self, source: &str) -> String {
        let Self { line, column, message } = self;
        if *line == 0 {
            return format!("ERROR: <input>:-1:0: {message}");
        }
        let mut out = format!("ERROR: <input>:{line}:{}: {message}", column + 1);
        let Some(text) = source.split('\n').nth(line.saturating_sub(1)) else { return out };
        let text = text.replace('\t', " ");
        let _ = write!(out, "\n | {text}\n | ");
        let mut characters = text.chars();
        for character in characters.by_ref().take(*column) {
            out.push(if is_wide(character) { '\u{ff0e}' } else { '.' });
        }
        out.push(if characters.next().is_some_and(is_wide) { '\u{ff3e}' } else { '^' });
        out
    }
}

/// Whether a character takes more than one byte, for which a wider dot is printed.
fn is_wide(character: char) -> bool {
    character.len_utf8() > 1
}
