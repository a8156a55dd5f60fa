//! Texts of a type, in which others of the type find what they have in common with them.

use std::{fmt::Write, ops::Range};

use crate::object::{ResourceVersion, Uid};

/// Some texts of a type, with marks where an object repeats its own name, uids and version.
pub(super) struct Sample {
    text: Vec<u8>,
    /// Where the marks are, in ascending order.
    marks: Vec<u16>,
    /// One place of each window, by its hash; from 1, because most are empty.
    places: Vec<u16>,
}

/// What an object repeats in its text, by mark: the uids come first, because a name may be a part of one.
pub(super) struct Own {
    text: String,
    ends: [usize; MARKS],
}

/// A piece of a sample that a text has too.
pub(super) struct Found {
    /// How many bytes of the text are before it.
    pub(super) skipped: usize,
    /// How many bytes of the text it is.
    pub(super) bytes: usize,
    /// Where it is in the sample.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The shortest piece that is looked for.
const WINDOW: usize = 8;
/// The controller, the uid, the name and the version.
const MARKS: usize = 4;
/// A shorter value may be anywhere in a text.
const SHORTEST_VALUE: usize = 4;
/// The longest sample: its places are two bytes each.
const LONGEST: usize = 32 << 10;

impl Own {
    pub(super) fn new(
        controller: Option<&Uid>,
        uid: &Uid,
        name: &str,
        version: &ResourceVersion,
    ) -> Self {
        // Whenever something is read of an object: without the formatter, which takes longer.
        let mut text = String::with_capacity(128);
        if let Some(controller) = controller {
            controller.as_text(|uid| text.push_str(uid));
        }
        let of_controller = text.len();
        uid.as_text(|uid| text.push_str(uid));
        let of_uid = text.len();
        text.push_str(name);
        let of_name = text.len();
        write!(text, "{version}").expect("a string takes what is written");
        Self { ends: [of_controller, of_uid, of_name, text.len()], text }
    }

    /// The longest value.
    pub(super) fn longest(&self) -> usize {
        self.text.len()
    }

    /// The value that a byte of a sample stands for; `None` if it is no mark.
    fn marked(&self, byte: u8) -> Option<&[u8]> {
        let at = usize::from(byte).checked_sub(1).filter(|at| *at < MARKS)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(&self.text.as_bytes()[start..self.ends[at]])
    }
}

impl Sample {
    /// A sample with another text; `None` when it is full, or the text has bytes that look like marks, which JSON has not.
    pub(super) fn with(before: Option<&Self>, text: &str, own: &Own) -> Option<Self> {
        let is_mark = |byte: &u8| (1..=MARKS).contains(&usize::from(*byte));
        if text.bytes().any(|byte| is_mark(&byte)) {
            return None;
        }
        let mut marked = text.to_owned();
        for mark in [1, 2, 3, 4] {
            let value = own.marked(mark).and_then(|value| std::str::from_utf8(value).ok())?;
            if value.len() >= SHORTEST_VALUE {
                marked = marked.replace(value, &char::from(mark).to_string());
            }
        }
        let known = before.map(|before| &before.text[..]).unwrap_or_default();
        let text = [known, marked.as_bytes()].concat();
        (text.len() <= LONGEST).then(|| Self::of(text, is_mark))
    }

    fn of(text: Vec<u8>, is_mark: impl Fn(&u8) -> bool) -> Self {
        let marks = text.iter().enumerate().filter(|(_, byte)| is_mark(byte));
        let marks: Vec<u16> = marks.filter_map(|(at, _)| u16::try_from(at).ok()).collect();
        let mut places = vec![0; text.len().next_power_of_two() * 2];
        for (window, place) in text.windows(WINDOW).zip(1..) {
            if !window.iter().any(&is_mark) {
                let at = slot(window, places.len());
                places[at] = place;
            }
        }
        Self { text, marks, places }
    }

    /// The first piece of a text that is found by one of its windows.
    pub(super) fn find(&self, text: &[u8], own: &Own) -> Option<Found> {
        text.windows(WINDOW).enumerate().find_map(|(skipped, window)| {
            let place = self.places[slot(window, self.places.len())];
            let start = usize::from(place).checked_sub(1)?;
            if self.text[start..start + WINDOW] != *window {
                return None;
            }
            let (end, bytes) = self.common(start, &text[skipped..], own);
            Some(Found { skipped, bytes, start, end })
        })
    }

    /// How far a text is like the sample from a place on: the end there, and in the text.
    fn common(&self, mut place: usize, text: &[u8], own: &Own) -> (usize, usize) {
        let mut at = 0;
        while let (Some(expected), Some(byte)) = (self.text.get(place), text.get(at)) {
            at += match own.marked(*expected) {
                None if expected == byte => 1,
                Some(value) if text[at..].starts_with(value) => value.len(),
                _ => break,
            };
            place += 1;
        }
        (place, at)
    }

    /// How many bytes before a place are also at the end of a text.
    pub(super) fn common_before(&self, place: usize, text: &[u8]) -> usize {
        let before = self.text[..place].iter().rev();
        before.zip(text.iter().rev()).take_while(|(a, b)| a == b).count()
    }

    /// Appends a piece, with what the marks in it stand for.
    pub(super) fn restore(&self, piece: Range<usize>, own: &Own, into: &mut Vec<u8>) {
        let first = self.marks.partition_point(|at| usize::from(*at) < piece.start);
        let marks = self.marks[first..].iter().map(|at| usize::from(*at));
        let mut start = piece.start;
        for at in marks.take_while(|at| *at < piece.end) {
            into.extend_from_slice(&self.text[start..at]);
            into.extend_from_slice(own.marked(self.text[at]).unwrap_or_default());
            start = at + 1;
        }
        into.extend_from_slice(&self.text[start..piece.end]);
    }
}

/// Where the place of a window is, among so many.
fn slot(window: &[u8], slots: usize) -> usize {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let window = window.first_chunk().copied().unwrap_or_default();
    let hash = u64::from_le_bytes(window).wrapping_mul(SPREAD);
    usize::try_from(hash >> (64 - slots.trailing_zeros())).unwrap_or_default()
}
