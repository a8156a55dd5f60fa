//! What differs between two texts, as a unified diff with three lines of context.
//!
//! The lines that both have in common are found as Python's `difflib` finds them, which the real server imitates:
//! the longest common run first, then the same to the left and to the right of it.

use std::{collections::HashMap, fmt::Write};

const CONTEXT: usize = 3;

/// In longer texts, lines that occur often do not start a run.
const LONG: usize = 200;

/// How many pairs of lines are compared. The real server has no limit; long texts of few different lines are shown as
/// replaced where it is reached.
const PAIRS: usize = 2_000_000;

/// A run of lines that both texts have: where it starts in each, and how long it is.
type Run = (usize, usize, usize);

/// The diff of two texts; empty if they are the same.
pub(super) fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut out = String::new();
    let changes = changes(&runs(&old, &new), old.len(), new.len());
    for group in groups(&changes) {
        print(&mut out, &group, &old, &new);
    }
    out
}

/// A part of the old text and what it became in the new one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Change {
    same: bool,
    old: (usize, usize),
    new: (usize, usize),
}

fn runs(old: &[&str], new: &[&str]) -> Vec<Run> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(index);
    }
    if new.len() >= LONG {
        let often = new.len() / 100 + 1;
        places.retain(|_, indexes| indexes.len() <= often);
    }
    let mut open = vec![(0, old.len(), 0, new.len())];
    let mut found = Vec::new();
    let mut pairs = PAIRS;
    while let Some((from, to, start, end)) = open.pop() {
        let (i, j, length) = longest(old, new, &places, (from, to, start, end), &mut pairs);
        if length > 0 {
            found.push((i, j, length));
            open.push((from, i, start, j));
            open.push((i + length, to, j + length, end));
        }
    }
    found.sort_unstable();
    joined(&found)
}

/// The longest run in a part of both texts, the first if there are several.
fn longest(
    old: &[&str],
    new: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (from, to, start, end): (usize, usize, usize, usize),
    pairs: &mut usize,
) -> Run {
    let (mut i, mut j, mut length) = (from, start, 0);
    let mut ending: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate().take(to).skip(from) {
        let mut next = HashMap::new();
        let indexes = places.get(line).map_or(&[][..], Vec::as_slice);
        let Some(left) = pairs.checked_sub(indexes.len() + 1) else { break };
        *pairs = left;
        for &other in indexes.iter().filter(|other| (start..end).contains(*other)) {
            let run =
                other.checked_sub(1).and_then(|before| ending.get(&before)).map_or(1, |n| n + 1);
            next.insert(other, run);
            if run > length {
                (i, j, length) = (index + 1 - run, other + 1 - run, run);
            }
        }
        ending = next;
    }
    while i > from && j > start && old[i - 1] == new[j - 1] {
        (i, j, length) = (i - 1, j - 1, length + 1);
    }
    while i + length < to && j + length < end && old[i + length] == new[j + length] {
        length += 1;
    }
    (i, j, length)
}

/// Runs that touch become one.
fn joined(runs: &[Run]) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for &(i, j, length) in runs {
        match joined.last_mut() {
            Some((before, other, known)) if *before + *known == i && *other + *known == j => {
                *known += length;
            }
            _ => joined.push((i, j, length)),
        }
    }
    joined
}

fn changes(runs: &[Run], old: usize, new: usize) -> Vec<Change> {
    let (mut i, mut j) = (0, 0);
    let mut changes = Vec::new();
    for &(start, other, length) in runs.iter().chain([&(old, new, 0)]) {
        if i < start || j < other {
            changes.push(Change { same: false, old: (i, start), new: (j, other) });
        }
        (i, j) = (start + length, other + length);
        if length > 0 {
            changes.push(Change { same: true, old: (start, i), new: (other, j) });
        }
    }
    changes
}

/// The changes with the lines around them; those that are far apart are separate.
fn groups(changes: &[Change]) -> Vec<Vec<Change>> {
    let mut changes = changes.to_vec();
    if let Some(first) = changes.first_mut().filter(|change| change.same) {
        first.old.0 = first.old.0.max(first.old.1.saturating_sub(CONTEXT));
        first.new.0 = first.new.0.max(first.new.1.saturating_sub(CONTEXT));
    }
    if let Some(last) = changes.last_mut().filter(|change| change.same) {
        last.old.1 = last.old.1.min(last.old.0 + CONTEXT);
        last.new.1 = last.new.1.min(last.new.0 + CONTEXT);
    }
    let mut groups = Vec::new();
    let mut group = Vec::new();
    for change in changes {
        let (mut old, mut new) = (change.old, change.new);
        if change.same && old.1 - old.0 > 2 * CONTEXT {
            let (old_end, new_end) = (old.1.min(old.0 + CONTEXT), new.1.min(new.0 + CONTEXT));
            group.push(Change { same: true, old: (old.0, old_end), new: (new.0, new_end) });
            groups.push(std::mem::take(&mut group));
            old.0 = old.0.max(old.1.saturating_sub(CONTEXT));
            new.0 = new.0.max(new.1.saturating_sub(CONTEXT));
        }
        group.push(Change { same: change.same, old, new });
    }
    groups.push(group);
    groups.retain(|group| group.iter().any(|change| !change.same));
    groups
}

fn print(out: &mut String, group: &[Change], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let (before, after) = (range(first.old.0, last.old.1), range(first.new.0, last.new.1));
    push(out, format_args!("@@ -{before} +{after} @@\n"));
    for change in group {
        let (removed, added) = (&old[change.old.0..change.old.1], &new[change.new.0..change.new.1]);
        let (mark, added) = if change.same { (' ', &[][..]) } else { ('-', added) };
        for line in removed {
            push(out, format_args!("{mark}{line}\n"));
        }
        for line in added {
            push(out, format_args!("+{line}\n"));
        }
    }
}

/// A range of lines as the head of a group names it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        1 => format!("{}", start + 1),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String does not fail");
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn a_changed_line_is_shown_with_three_lines_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni";
        let new = old.replace('e', "E");
        let expected = "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n";
        assert_eq!(unified(old, &new), expected);
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified("a\nb", "a\nb"), "");
    }

    #[test]
    fn texts_of_few_different_lines_are_compared_in_bounded_time() {
        let lines = |start: usize| {
            let lines: Vec<String> =
                (0..20_000).map(|at| ((at * 7 + start) % 130).to_string()).collect();
            lines.join("\n")
        };
        assert!(!unified(&lines(0), &lines(3)).is_empty());
    }

    #[test]
    fn any_texts_are_compared() {
        const TOKENS: [&str; 6] = ["\n", "a\n", "b\n", "c", "a\nb\n", "\n\n"];
        operetta_harness::random::some_texts(4, &TOKENS, |text| {
            assert!(unified(text, "a\nb\nc\na\n").len() <= 40 * (text.len() + 20));
            assert_eq!(unified(text, text), "");
        });
    }
}
