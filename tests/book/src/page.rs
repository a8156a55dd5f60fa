//! A Markdown file with its blocks of code, and the comments in front of them.

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

use crate::{compare::is_alike, shell::Shell};

/// A Markdown file.
#[derive(Debug, Clone)]
pub struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What stands after the fence, such as `console server`; `run` for a comment with a command.
    pub info: String,
    /// The `key: value` pairs of the comment in the line before the fence.
    pub directives: Vec<(String, String)>,
    /// Where its lines are in the page.
    pub content: Range<usize>,
}

impl Block {
    /// The value of a directive.
    pub fn directive(&self, key: &str) -> Option<&str> {
        let found = self.directives.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether it has commands.
    pub fn is_console(&self) -> bool {
        self.info.split_whitespace().next() == Some("console")
    }

    fn is_server(&self) -> bool {
        self.info.split_whitespace().any(|word| word == "server")
    }
}

impl Page {
    /// Reads a page.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), text: fs::read_to_string(path)? })
    }

    /// What the commands find: the comment `<!-- session: .. -->`.
    pub fn session(&self) -> Option<&str> {
        let comments = self.text.lines().filter_map(comment);
        let values = comments.filter_map(|comment| comment.strip_prefix("session:"));
        values.map(str::trim).next()
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The blocks in their order.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let (mut open, mut before, mut offset) = (None, "", 0);
        for line in self.text.split_inclusive('\n') {
            let end = offset + line.len();
            if let (Some(script), None) = (unseen(line), &open) {
                let begin = offset + script.as_ptr().addr() - line.as_ptr().addr();
                let content = begin..begin + script.len();
                blocks.push(Block { info: UNSEEN.to_owned(), directives: Vec::new(), content });
            } else if let Some(info) = line.strip_prefix("```") {
                open = match open.take() {
                    None => Some((info.trim().to_owned(), directives(before), end)),
                    Some((info, directives, begin)) => {
                        blocks.push(Block { info, directives, content: begin..offset });
                        None
                    }
                };
            }
            (before, offset) = (line, end);
        }
        blocks
    }

    /// The lines of a block.
    pub fn content(&self, block: &Block) -> &str {
        &self.text[block.content.clone()]
    }

    /// Runs all commands of the page. Where the output differs, rewrites the page under `UPDATE_EXPECT=1`.
    ///
    /// # Errors
    /// What differs, command by command.
    pub fn play(&self, shell: &mut Shell) -> Result<(), String> {
        let mut seen = Vec::new();
        for block in self.blocks() {
            let content = self.content(&block);
            if let Some(file) = block.directive("file") {
                shell.save(file, content).map_err(|error| format!("{file}: {error}"))?;
            }
            if block.info == UNSEEN {
                shell.succeed(content)?;
            }
            if block.is_console() {
                seen.push((block.content.clone(), played(content, block.is_server(), shell)?));
            }
        }
        self.compare(&seen)
    }

    /// The page with other contents of blocks, which replaces the file under `UPDATE_EXPECT=1`.
    pub(crate) fn compare(&self, seen: &[(Range<usize>, Played)]) -> Result<(), String> {
        let differences: Vec<_> = seen.iter().flat_map(|(_, block)| &block.differences).collect();
        if differences.is_empty() {
            return Ok(());
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            return fs::write(&self.path, self.rewritten(seen)).map_err(|error| error.to_string());
        }
        let differences: Vec<_> = differences.into_iter().map(String::as_str).collect();
        Err(format!("{}\n{}", self.path.display(), differences.join("\n")))
    }

    fn rewritten(&self, seen: &[(Range<usize>, Played)]) -> String {
        let mut text = self.text.clone();
        for (range, block) in seen.iter().rev() {
            text.replace_range(range.clone(), &block.text);
        }
        text
    }
}

/// A block after its commands have run.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// The block with what was printed, where that differs.
    pub(crate) text: String,
    pub(crate) differences: Vec<String>,
}

impl Played {
    fn take(&mut self, command: &str, expected: &str, seen: &str) {
        self.text += command;
        if is_alike(expected, seen) {
            self.text += expected;
        } else {
            self.text += seen;
            let difference = format!("{command}--- expected\n{expected}--- seen\n{seen}");
            self.differences.push(difference);
        }
    }
}

/// What a reader types into the terminal of a server to stop it.
const STOP: &str = "^C\n";

fn played(content: &str, is_server: bool, shell: &mut Shell) -> Result<Played, String> {
    let mut played = Played::default();
    for (command, output) in entries(content) {
        let (expected, stops) = match output.strip_suffix(STOP) {
            Some(expected) => (expected, true),
            None => (output, false),
        };
        let script = script_of(command);
        let seen = match script.as_str() {
            "" => String::new(),
            script if is_server => shell.serve(script, |printed| is_alike(expected, printed))?,
            script => shell.run(script)?,
        };
        played.take(command, expected, &seen);
        if stops {
            shell.stop()?;
            played.text += STOP;
        }
    }
    Ok(played)
}

/// The commands of a block with what they print. Output before the first command has an empty one.
fn entries(content: &str) -> Vec<(&str, &str)> {
    let mut entries: Vec<(Range<usize>, usize)> = Vec::new();
    let mut offset = 0;
    for line in content.split_inclusive('\n') {
        let end = offset + line.len();
        match entries.last_mut() {
            Some((command, last)) if line.starts_with("> ") && *last == command.end => {
                *command = command.start..end;
                *last = end;
            }
            _ if line.starts_with("$ ") => entries.push((offset..end, end)),
            Some((_, last)) => *last = end,
            None => entries.push((0..0, end)),
        }
        offset = end;
    }
    let texts = entries.into_iter().map(|(command, end)| {
        let output = command.end..end;
        (&content[command], &content[output])
    });
    texts.collect()
}

fn script_of(command: &str) -> String {
    command.lines().map(|line| &line[2..]).collect::<Vec<_>>().join("\n")
}

/// `<!-- key: value; key: value -->`
fn directives(line: &str) -> Vec<(String, String)> {
    let pairs = comment(line).into_iter().flat_map(|comment| comment.split(';'));
    let pairs = pairs.filter_map(|pair| pair.split_once(':'));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// The comment `<!-- run: .. -->`.
const UNSEEN: &str = "run";

fn unseen(line: &str) -> Option<&str> {
    comment(line)?.strip_prefix(UNSEEN)?.strip_prefix(':').map(str::trim)
}

fn comment(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { path: PathBuf::from("page.md"), text: text.to_owned() }
    }

    #[test]
    fn a_block_has_its_info_its_comment_and_its_lines() {
        let page =
            page("<!-- session: alone -->\n<!-- file: a.yaml; code: b#c -->\n```yaml\na: 1\n```\n");
        let [block] = &page.blocks()[..] else { panic!("one block") };
        assert_eq!((block.info.as_str(), page.content(block)), ("yaml", "a: 1\n"));
        assert_eq!(
            (block.directive("file"), block.directive("code")),
            (Some("a.yaml"), Some("b#c"))
        );
        assert_eq!(page.session(), Some("alone"));
    }

    #[test]
    fn a_comment_runs_a_command_that_is_not_shown() {
        let page = page("a\n<!-- run: kubectl get a -->\n```text\n<!-- run: no -->\n```\n");
        let blocks = page.blocks();
        assert_eq!((blocks[0].info.as_str(), page.content(&blocks[0])), ("run", "kubectl get a"));
        assert_eq!(blocks.len(), 2);
    }

    #[test]
    fn a_command_goes_on_in_lines_that_say_so() {
        let text = "$ a \\\n> b\none\n> two\n$ c\n^C\n";
        assert_eq!(entries(text), [("$ a \\\n> b\n", "one\n> two\n"), ("$ c\n", "^C\n")]);
        assert_eq!(script_of("$ a \\\n> b\n"), "a \\\nb");
        assert_eq!(entries("^C\n"), [("", "^C\n")]);
    }

    #[test]
    fn what_differs_is_rewritten_and_nothing_else() {
        let page = page("text\n```console\n$ a\n1s\n$ b\nold\n```\nmore\n");
        let mut played = Played::default();
        played.take("$ a\n", "1s\n", "7s\n");
        played.take("$ b\n", "old\n", "new\n");
        assert_eq!(played.differences.len(), 1);
        let content = page.blocks()[0].content.clone();
        let expected = "text\n```console\n$ a\n1s\n$ b\nnew\n```\nmore\n";
        assert_eq!(page.rewritten(&[(content, played)]), expected);
    }
}
