//! Tables as kubectl prints them.

use std::fmt::Write;

use crate::object::OneLine;

/// The gap between columns.
const GAP: usize = 3;
/// The length of a message that is cut.
const CUT: usize = 80;

/// A table; a column in which no row has anything is not printed, except the first.
#[derive(Debug)]
pub(super) struct Table {
    titles: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(titles: &[&'static str]) -> Self {
        Self { titles: titles.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, with one cell for each title.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.titles.len());
        self.rows.push(cells.into_iter().map(|cell| OneLine(cell).to_string()).collect());
    }

    pub(super) fn print(&self) -> String {
        let used: Vec<usize> =
            (0..self.titles.len()).filter(|&index| self.is_used(index)).collect();
        let widths: Vec<usize> = used.iter().map(|&index| self.width(index)).collect();
        let mut text = String::new();
        let titles: Vec<String> = self.titles.iter().map(|&title| title.to_owned()).collect();
        for row in std::iter::once(&titles).chain(&self.rows) {
            let cells = used.iter().zip(&widths).map(|(&index, width)| (&row[index], width + GAP));
            let mut line = String::new();
            for (cell, width) in cells {
                // A text in memory takes everything.
                let _ = write!(line, "{cell:width$}");
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    fn is_used(&self, index: usize) -> bool {
        index == 0 || self.rows.iter().any(|row| !row[index].is_empty())
    }

    fn width(&self, index: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[index].chars().count());
        cells.chain([self.titles[index].len()]).max().unwrap_or_default()
    }
}

/// A message for a column, cut unless the table is wide.
pub(super) fn message(text: &str, is_wide: bool) -> String {
    if is_wide || text.chars().count() <= CUT {
        return text.to_owned();
    }
    text.chars().take(CUT - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_cell_and_empty_ones_are_left_out() {
        let mut table = Table::new(&["NAME", "EMPTY", "STATE"]);
        table.row(["a-long-name".to_owned(), String::new(), "running".to_owned()]);
        table.row(["b".to_owned(), String::new(), String::new()]);
        assert_eq!(table.print(), "NAME          STATE\na-long-name   running\nb\n");
    }

    #[test]
    fn a_text_cannot_control_the_terminal_or_forge_a_row() {
        let mut table = Table::new(&["NAME"]);
        table.row(["a\u{1b}[31m\nb\u{202e}\r".to_owned()]);
        assert_eq!(table.print(), "NAME\na\\u001b[31m\\nb\\u202e\\r\n");
    }

    #[test]
    fn a_long_message_is_cut_unless_the_table_is_wide() {
        let long = "x".repeat(200);
        assert_eq!(message(&long, false).chars().count(), CUT);
        assert_eq!(message(&long, true), long);
    }
}
