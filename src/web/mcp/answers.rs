//! Texts that fit in an answer: pure.

use std::time::{Duration, SystemTime};

use crate::object::OneLine;

/// The limit of a text, in bytes as JSON has them. The message around it takes less than the rest of 2 KB.
const LIMIT: usize = 1750;
/// The rest is for the sentence about what is left out.
const OF_LINES: usize = LIMIT - 250;
const OF_HEAD: usize = 1000;
const OF_LINE: usize = 400;

/// What an answer says before its lines.
#[derive(Debug, Default)]
pub(super) struct Head(String);

impl Head {
    pub(super) fn new(text: &str) -> Self {
        Self::default().and(text)
    }

    /// Adds a line.
    pub(super) fn and(mut self, text: &str) -> Self {
        self.0 += &shortened(text, OF_HEAD.saturating_sub(cost(&self.0)));
        self.0.push('\n');
        self
    }

    /// With those of these lines that fit. `further` ones exist beside them, and the question is what shows the others.
    pub(super) fn with_lines(
        self,
        lines: impl IntoIterator<Item = String>,
        further: usize,
        question: &str,
    ) -> String {
        let Self(mut text) = self;
        let (mut room, mut omitted) = (OF_LINES.saturating_sub(cost(&text)), 0);
        for line in lines {
            let line = format!("{}\n", shortened(&line, OF_LINE));
            match room.checked_sub(cost(&line)).filter(|_| omitted == 0) {
                Some(rest) => {
                    room = rest;
                    text += &line;
                }
                None => omitted += 1,
            }
        }
        let omitted = match omitted + further {
            0 => String::new(),
            1 => format!("1 more is left out: {question}."),
            more => format!("{more} more are left out: {question}."),
        };
        (text + &omitted).trim_end().to_owned()
    }

    pub(super) fn alone(self) -> String {
        self.with_lines([], 0, "")
    }
}

/// On one line, with as many bytes as JSON has for it.
pub(super) fn shortened(text: &str, bytes: usize) -> String {
    let text = OneLine(text).to_string();
    if cost(&text) <= bytes {
        return text;
    }
    let (mut end, mut taken) = (0, '…'.len_utf8());
    for (at, letter) in text.char_indices() {
        taken += cost(letter.encode_utf8(&mut [0; 4]));
        if taken > bytes {
            break;
        }
        end = at + letter.len_utf8();
    }
    format!("{}…", &text[..end])
}

/// How many bytes a text has within JSON, without its quotes.
fn cost(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |quoted| quoted.len() - 2)
}

/// How long ago a time was.
pub(super) fn ago(at: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(at).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A number with its noun.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> usize {
        serde_json::to_string(text).unwrap().len()
    }

    #[test]
    fn all_lines_are_there_if_they_fit() {
        let text = Head::new("Two.").with_lines(["a".to_owned(), "b".to_owned()], 0, "ask");
        assert_eq!(text, "Two.\na\nb");
        assert_eq!(Head::new("x").and("y").alone(), "x\ny");
    }

    #[test]
    fn what_does_not_fit_is_counted_and_the_question_is_named() {
        let lines = (0..500).map(|number| format!("line {number} of many, with some words"));
        let text = Head::new("Many.").with_lines(lines, 7, "ask for a namespace");
        let shown = text.lines().count() - 2;
        let expected = format!("{} more are left out: ask for a namespace.", 500 - shown + 7);
        assert_eq!(text.lines().last(), Some(expected.as_str()));
        assert!(size(&text) <= LIMIT && shown > 20, "{shown} lines of {}", size(&text));
    }

    #[test]
    fn no_text_makes_an_answer_longer_than_its_limit() {
        for odd in ["\"", "\\", "\n", "\u{202e}", "ä", "🦀", "\u{0}", "a b"] {
            let long = odd.repeat(3000);
            let lines = vec![long.clone(); 20];
            let text = Head::new(&long).and(&long).with_lines(lines, 3, "ask less");
            assert!(size(&text) <= LIMIT, "{odd:?}: {}", size(&text));
            assert!(text.ends_with("left out: ask less."), "{text}");
        }
    }

    #[test]
    fn a_text_of_others_is_one_line() {
        let text = Head::new("a\nb").with_lines(["c\nd".to_owned()], 0, "");
        assert_eq!(text, "a\\nb\nc\\nd");
    }

    #[test]
    fn a_time_is_less_exact_the_longer_ago_it_is() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let shown = |seconds| ago(now - Duration::from_secs(seconds), now);
        let all = [0, 119, 120, 7199, 7200, 172_799, 172_800].map(shown);
        let expected =
            ["0 s ago", "119 s ago", "2 min ago", "119 min ago", "2 h ago", "47 h ago", "2 d ago"];
        assert_eq!(all, expected);
        assert_eq!(ago(now + Duration::from_secs(9), now), "0 s ago");
    }
}
