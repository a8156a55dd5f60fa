//! Mass changes, equal neighbours, and the windows of time.

use super::*;
use crate::{
    board::activity::{
        entry::{Entry, What},
        piece::pieces,
    },
    history::{Decision, Drift, FailureKind, Verb, WriteRecord},
    object::ResourceVersion,
};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// The entries of one test, and what is made of them.
#[derive(Default)]
struct Story(Vec<Entry>);

impl Story {
    fn add(mut self, second: u64, operator: &str, what: What) -> Self {
        let number = self.0.len() as u64 + 1;
        let operator = OperatorName::new(operator).unwrap();
        self.0.push(Entry::new(number, at(second), Some(operator), what));
        self
    }

    fn each(self, count: u64, add: impl Fn(Self, u64) -> Self) -> Self {
        (0..count).fold(self, add)
    }

    fn lines(&self) -> Vec<Line> {
        fold(self.0.iter().flat_map(pieces))
    }

    /// Kind, parents, children and times of each line.
    fn shown(&self) -> Vec<(&'static str, usize, usize, u64)> {
        let shown =
            |line: &Line| (line.kind.name(), line.parents.count, line.children.count, line.times);
        self.lines().iter().map(shown).collect()
    }
}

fn wrote(parent: u64, writes: Vec<Decision>) -> What {
    let parent = ObjectKey::namespaced("ns", &format!("p{parent}"));
    What::Wrote { parent, decisions: writes.into(), omitted: 0 }
}

fn write(child: &str, verb: Verb, drift: Option<Drift>) -> Decision {
    let (child, paths) = (format!("Pod.v1 ns/{child}"), Vec::new());
    WriteRecord { child, verb, paths, drift: drift.map(Box::new) }.into()
}

/// Created again, because others had deleted it.
fn removed(child: &str) -> Decision {
    let drift = Drift { manager: None, from: ResourceVersion::new("1"), to: None };
    write(child, Verb::Created, Some(drift))
}

fn changed(child: &str, manager: &str) -> Decision {
    let to = Some(ResourceVersion::new("2"));
    let drift = Drift { manager: Some(manager.to_owned()), from: ResourceVersion::new("1"), to };
    write(child, Verb::Updated, Some(drift))
}

#[test]
fn forty_children_that_others_removed_are_one_line() {
    let story = Story::default().each(12, |story, number| {
        let children = if number < 4 { 4 } else { 3 };
        let children = (0..children).map(|child| removed(&format!("{number}-{child}")));
        story.add(number, "cook", wrote(number, children.collect()))
    });
    assert_eq!(story.shown(), [("repaired", 12, 40, 12)]);
    let line = &story.lines()[0];
    assert!(line.is_removed && line.who.is_none());
    assert_eq!((line.first, line.last), (at(0), at(11)));
    assert_eq!((line.parents.kept.len(), line.parents.more()), (10, 2));
}

#[test]
fn few_changes_are_lines_of_their_own_the_newest_first() {
    let story = Story::default().each(3, |story, number| {
        story.add(number, "cook", wrote(number, vec![write("c", Verb::Created, None)]))
    });
    assert_eq!(story.shown(), [("created", 1, 1, 1); 3]);
    let parents: Vec<_> =
        story.lines().iter().map(|line| line.parents.kept[0].name.to_string()).collect();
    assert_eq!(parents, ["p2", "p1", "p0"]);
}

#[test]
fn equal_neighbours_are_counted_also_between_others() {
    let story = Story::default().each(9, |story, number| {
        let story = story.add(number * 5, "cook", wrote(0, vec![changed("c", "hpa")]));
        story.add(number * 5, "cook", wrote(number, vec![write("d", Verb::Deleted, None)]))
    });
    let lines = story.lines();
    let repaired = lines.iter().find(|line| line.kind == ActivityKind::Repaired).unwrap();
    assert_eq!((repaired.times, repaired.children.count), (9, 1));
    assert_eq!(repaired.last.duration_since(repaired.first).unwrap(), Duration::from_secs(40));
    assert_eq!(repaired.who.as_deref(), Some("hpa"));
}

#[test]
fn what_differs_in_operator_kind_or_manager_is_not_folded_together() {
    let story = Story::default().each(8, |story, number| {
        let child = number.to_string();
        let both = vec![changed(&child, "hpa"), changed(&format!("x{child}"), "by-hand")];
        let story = story.add(number, "cook", wrote(number, both));
        let story = story.add(number, "baker", wrote(number, vec![changed(&child, "hpa")]));
        story.add(number, "cook", wrote(number, vec![write(&child, Verb::Created, None)]))
    });
    assert_eq!(story.lines().len(), 4);
    let numbers: Vec<_> = story.lines().iter().map(|line| line.number).collect();
    assert!(numbers.is_sorted_by(|one, next| one > next), "{numbers:?}");
}

#[test]
fn a_longer_gap_and_a_longer_span_begin_another_line() {
    let created = |story: Story, second: u64| {
        let child = write(&second.to_string(), Verb::Created, None);
        story.add(second, "cook", wrote(second, vec![child]))
    };
    let bursts = Story::default().each(10, created).each(10, |story, it| created(story, it + 60));
    assert_eq!(bursts.shown(), [("created", 10, 10, 10); 2]);
    let steady = Story::default().each(1201, created);
    assert_eq!(steady.lines().len(), 2, "ten minutes in a line");
}

#[test]
fn a_new_entry_does_not_change_the_older_lines() {
    let story = |count| {
        Story::default().each(count, |story, number| {
            let second = number * 7;
            story.add(second, "cook", wrote(number, vec![write("c", Verb::Created, None)]))
        })
    };
    let (before, after) = (story(200).lines(), story(201).lines());
    assert_eq!(before[1..], after[after.len() - before.len() + 1..]);
}

#[test]
fn parents_that_fail_together_are_one_line_with_the_first_message() {
    let story = Story::default().each(30, |story, number| {
        let (parent, message) = (ObjectKey::namespaced("ns", &number.to_string()), "down".into());
        story.add(0, "cook", What::Failing { parent, reason: FailureKind::WriteFailed, message })
    });
    assert_eq!(story.shown(), [("failing", 30, 0, 30)]);
    assert_eq!(story.lines()[0].details.kept, ["down"]);
}

#[test]
fn operators_that_start_together_are_one_line() {
    let story = Story::default().add(0, "cook", What::Registered).add(1, "baker", What::Registered);
    let lines = story.lines();
    assert_eq!((lines.len(), lines[0].operators.count), (1, 2));
}
