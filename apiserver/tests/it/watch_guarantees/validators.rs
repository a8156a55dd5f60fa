//! The promises, one function each. The first stream, of everything, is the reference for the others.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Event, Kind, Received, Recorded};

type Validator = fn(&Received, &Recorded) -> Result<(), String>;

const VALIDATORS: [(&str, Validator); 9] = [
    ("ordered", ordered),
    ("unique", unique),
    ("atomic", atomic),
    ("reliable", reliable),
    ("resumable", resumable),
    ("bookmarkable", bookmarkable),
    ("filtered", filtered),
    ("says what is new", says_what_is_new),
    ("deletions show the last state", shows_the_last_state),
];

/// Each broken promise, with the stream that broke it.
pub(crate) fn broken(recorded: &Recorded) -> Vec<String> {
    let each = |stream| {
        VALIDATORS.iter().filter_map(move |(name, validator)| {
            let why = validator(stream, recorded).err()?;
            Some(format!("{} is not {name}: {why}", stream.name))
        })
    };
    recorded.streams.iter().flat_map(each).collect()
}

/// The changes, without the state at the beginning and without bookmarks.
fn changes(stream: &Received) -> &[Event] {
    let initial = stream.events.iter().position(|event| event.ends_initial);
    initial.map_or(&stream.events[..], |end| &stream.events[end + 1..])
}

/// The version from which on the changes must be complete.
fn begins_at(stream: &Received, recorded: &Recorded) -> u64 {
    let initial = stream.events.iter().find(|event| event.ends_initial);
    initial.map_or(recorded.from, |event| event.version)
}

fn selects(stream: &Received, event: &Event) -> bool {
    let by_label = match stream.selector.as_deref() {
        Some("tier=gold") => event.tier == "gold",
        Some("tier!=gold") => event.tier != "gold",
        _ => true,
    };
    let name = stream.fields.as_deref().and_then(|it| it.strip_prefix("metadata.name="));
    by_label && name.is_none_or(|name| event.name == name)
}

/// What a stream must contain: computed from the reference.
fn expected(stream: &Received, recorded: &Recorded) -> Vec<Event> {
    let begin = begins_at(stream, recorded);
    let mut selected: BTreeMap<&str, bool> = BTreeMap::new();
    let mut expected = Vec::new();
    for event in &recorded.streams[0].events {
        let before = selected.get(event.name.as_str()).copied().unwrap_or_default();
        let now = event.kind != Kind::Deleted && selects(stream, event);
        selected.insert(&event.name, now);
        let kind = match (before, now) {
            (false, true) => Kind::Added,
            (true, true) => Kind::Modified,
            (true, false) => Kind::Deleted,
            (false, false) => continue,
        };
        if event.version > begin {
            expected.push(Event { kind, ..event.clone() });
        }
    }
    expected
}

/// Versions grow.
fn ordered(stream: &Received, _: &Recorded) -> Result<(), String> {
    let wrong = changes(stream).windows(2).find(|pair| pair[0].version > pair[1].version);
    wrong.map_or(Ok(()), |pair| Err(format!("{pair:?}")))
}

/// No version comes twice.
fn unique(stream: &Received, _: &Recorded) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let real = changes(stream).iter().filter(|event| event.kind != Kind::Bookmark);
    let twice = real.into_iter().find(|event| !seen.insert(event.version));
    twice.map_or(Ok(()), |event| Err(format!("{event:?} came twice")))
}

/// One version is one change of one object, the same for every watch. What leaves a selection is shown as it was
/// before.
fn atomic(stream: &Received, recorded: &Recorded) -> Result<(), String> {
    let reference: BTreeMap<u64, &Event> =
        recorded.streams[0].events.iter().map(|event| (event.version, event)).collect();
    let differs = |event: &&Event| match reference.get(&event.version) {
        Some(known) if event.kind == Kind::Deleted => known.name != event.name,
        Some(known) => (&known.name, &known.number) != (&event.name, &event.number),
        None => event.kind != Kind::Bookmark,
    };
    let wrong = changes(stream).iter().find(differs);
    wrong.map_or(Ok(()), |event| Err(format!("{event:?} is not in the reference")))
}

/// No change is missing: neither one that the reference has, nor one that a writer was answered.
fn reliable(stream: &Received, recorded: &Recorded) -> Result<(), String> {
    let seen: BTreeSet<u64> = changes(stream).iter().map(|event| event.version).collect();
    let missing = expected(stream, recorded).into_iter().find(|it| !seen.contains(&it.version));
    if let Some(event) = missing {
        return Err(format!("{event:?} is missing"));
    }
    let is_everything = stream.selector.is_none() && stream.fields.is_none();
    let begin = begins_at(stream, recorded);
    let due = recorded.acknowledged.iter().filter(|version| is_everything && **version > begin);
    match due.into_iter().find(|version| !seen.contains(version)) {
        Some(version) => Err(format!("version {version} was answered and is missing")),
        None => Ok(()),
    }
}

/// Continued from a version it has exactly the changes after that: as if never interrupted.
fn resumable(stream: &Received, recorded: &Recorded) -> Result<(), String> {
    let real: Vec<_> =
        changes(stream).iter().filter(|event| event.kind != Kind::Bookmark).cloned().collect();
    let expected = expected(stream, recorded);
    let differs = real.iter().zip(&expected).find(|(a, b)| a.version != b.version);
    match differs {
        Some(pair) => Err(format!("{pair:?}")),
        None if real.len() != expected.len() => {
            Err(format!("{} events instead of {}", real.len(), expected.len()))
        }
        None => Ok(()),
    }
}

/// At a bookmark everything up to its version has been sent; one ends the initial state.
fn bookmarkable(stream: &Received, _: &Recorded) -> Result<(), String> {
    let mut newest = 0;
    for event in &stream.events {
        if event.kind == Kind::Bookmark && event.version < newest {
            return Err(format!("a bookmark of {} after version {newest}", event.version));
        }
        newest = newest.max(event.version);
    }
    let ends = stream.events.iter().filter(|event| event.ends_initial).count();
    let is_right = ends == usize::from(stream.has_initial);
    if is_right { Ok(()) } else { Err(format!("{ends} ends of the initial state")) }
}

/// Only what is selected, and what leaves the selection.
fn filtered(stream: &Received, _: &Recorded) -> Result<(), String> {
    let is_wrong = |event: &&Event| {
        !matches!(event.kind, Kind::Bookmark | Kind::Deleted) && !selects(stream, event)
    };
    let wrong = stream.events.iter().find(is_wrong);
    wrong.map_or(Ok(()), |event| Err(format!("{event:?} is not selected")))
}

/// `ADDED` for what was not there, or not selected, else `MODIFIED` or `DELETED`.
fn says_what_is_new(stream: &Received, recorded: &Recorded) -> Result<(), String> {
    let kinds: BTreeMap<u64, Kind> =
        expected(stream, recorded).iter().map(|event| (event.version, event.kind)).collect();
    let is_wrong = |event: &&Event| {
        kinds.get(&event.version).is_some_and(|kind| *kind != event.kind)
            && event.kind != Kind::Bookmark
    };
    let wrong = changes(stream).iter().find(is_wrong);
    wrong.map_or(Ok(()), |event| Err(format!("{event:?} should be {:?}", kinds[&event.version])))
}

/// A deletion carries the object as it was, under a version of its own.
fn shows_the_last_state(stream: &Received, recorded: &Recorded) -> Result<(), String> {
    let mut last: BTreeMap<&str, &Event> = BTreeMap::new();
    for event in &recorded.streams[0].events {
        if event.kind == Kind::Deleted
            && let Some(before) = last.get(event.name.as_str())
            && (before.number != event.number || before.version >= event.version)
        {
            return Err(format!("{event:?} after {before:?}, in {}", stream.name));
        }
        last.insert(&event.name, event);
    }
    Ok(())
}
