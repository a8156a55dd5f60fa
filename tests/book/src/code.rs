//! Code that a page shows is the code of a file of the repository, which is compiled and tested there.

use std::{fs, io, path::Path};

use thiserror::Error;

use crate::page::{Page, Played};

/// Why a page does not show the code of the repository.
#[derive(Debug, Error)]
pub enum CodeError {
    /// A file that a page names cannot be read.
    #[error("{page}: cannot read {file}: {error}")]
    Read {
        /// The page.
        page: String,
        /// The file that it names.
        file: String,
        /// Why not.
        error: io::Error,
    },
    /// A file has no part of that name.
    #[error("{page}: {file} has no `ANCHOR: {anchor}` with its `ANCHOR_END: {anchor}`")]
    NoAnchor {
        /// The page.
        page: String,
        /// The file that it names.
        file: String,
        /// The name of the part.
        anchor: String,
    },
    /// The code differs.
    #[error("{0}\nUPDATE_EXPECT=1 rewrites the page")]
    Differs(String),
}

/// Compares the blocks with `<!-- code: FILE#ANCHOR -->` with the files below `repository`, or rewrites them under
/// `UPDATE_EXPECT=1`. Returns how many there are.
///
/// # Errors
/// The file or the anchor does not exist, or the code differs.
pub fn check_code(repository: &Path, page: &Page) -> Result<usize, CodeError> {
    let mut seen = Vec::new();
    for block in page.blocks() {
        let Some(source) = block.directive("code") else { continue };
        let (code, shown) = (code_of(repository, page, source)?, page.content(&block));
        let difference = || format!("<!-- code: {source} -->\n--- shown\n{shown}--- is\n{code}");
        let differences = if code == shown { Vec::new() } else { vec![difference()] };
        seen.push((block.content.clone(), Played { text: code, differences }));
    }
    page.compare(&seen).map_err(CodeError::Differs)?;
    Ok(seen.len())
}

fn code_of(repository: &Path, page: &Page, source: &str) -> Result<String, CodeError> {
    let (file, anchor) = source.split_once('#').unwrap_or((source, ""));
    let page = || page.path().display().to_string();
    let text = fs::read_to_string(repository.join(file));
    let text =
        text.map_err(|error| CodeError::Read { page: page(), file: file.to_owned(), error })?;
    if anchor.is_empty() {
        return Ok(without_anchors(&text));
    }
    part(&text, anchor).ok_or_else(|| CodeError::NoAnchor {
        page: page(),
        file: file.to_owned(),
        anchor: anchor.to_owned(),
    })
}

/// The lines between the two comments, with the indentation of the first taken away.
fn part(text: &str, anchor: &str) -> Option<String> {
    let is = |line: &str, mark: &str| line.trim_end().ends_with(&format!("{mark}: {anchor}"));
    let after = text.lines().skip_while(|line| !is(line, "ANCHOR")).skip(1);
    text.lines().find(|line| is(line, "ANCHOR_END"))?;
    let lines: Vec<_> = after.take_while(|line| !is(line, "ANCHOR_END")).collect();
    let first = lines.first()?;
    let indent = &first[..first.len() - first.trim_start().len()];
    let shown = lines.iter().map(|line| line.strip_prefix(indent).unwrap_or(line.trim_start()));
    Some(without_anchors(&(shown.collect::<Vec<_>>().join("\n") + "\n")))
}

fn without_anchors(text: &str) -> String {
    let is_mark = |line: &str| line.contains("ANCHOR: ") || line.contains("ANCHOR_END: ");
    text.split_inclusive('\n').filter(|line| !is_mark(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_what_is_between_its_anchors() {
        let text = "x\n  // ANCHOR: a\n  one\n  // ANCHOR: b\n    two\n\n  // ANCHOR_END: b\n  // ANCHOR_END: a\ny\n";
        assert_eq!(part(text, "a").unwrap(), "one\n  two\n\n");
        assert_eq!(part(text, "b").unwrap(), "two\n\n");
        assert_eq!(part(text, "c"), None);
        assert_eq!(without_anchors(text), "x\n  one\n    two\n\ny\n");
    }
}
