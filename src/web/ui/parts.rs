//! Parts of pages: marks, bars, numbers.

use std::collections::BTreeMap;

use askama::{Template, filters::HtmlSafe};

use super::links;
use crate::{
    board::{OperatorSnapshot, OperatorState, ParentPhase},
    history::{Decided, Outcome},
};

/// A state as a sign, a word and a colour, so that it is readable without colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Template)]
#[template(path = "mark.html")]
pub(super) struct Mark {
    word: &'static str,
    sign: &'static str,
    tone: &'static str,
}

impl HtmlSafe for Mark {}

/// A sentence in which text between backticks is code.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = "{% for (is_code, text) in parts() %}{% if is_code %}<code>{{ text }}</code>{% else %}{{ text }}{% endif %}{% endfor %}",
    ext = "html"
)]
pub(super) struct Prose(String);

impl HtmlSafe for Prose {}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Button {
    pub(super) text: &'static str,
    pub(super) path: String,
    /// What is asked before the command is sent.
    pub(super) asks: Option<Asks>,
}

/// The form of a pause: its reason and how long it lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asks {
    pub(super) what: &'static str,
    /// What the user must tick first.
    pub(super) confirm: Option<String>,
    /// The text of the button that sends the command.
    pub(super) send: &'static str,
}

/// The number of parents in each phase, as a bar and as text.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "bar.html")]
pub(super) struct Bar {
    parts: Vec<Part>,
    label: String,
}

impl HtmlSafe for Bar {}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) mark: Mark,
    pub(super) count: usize,
    pub(super) href: String,
    /// Percent of all parents.
    x: f64,
    width: f64,
}

/// A link with its text.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) text: String,
    pub(super) href: String,
}

impl Button {
    pub(super) fn new(text: &'static str, path: String) -> Self {
        Self { text, path, asks: None }
    }

    pub(super) fn asking(self, asks: Asks) -> Self {
        Self { asks: Some(asks), ..self }
    }
}

impl Mark {
    const fn new(word: &'static str, sign: &'static str, tone: &'static str) -> Self {
        Self { word, sign, tone }
    }

    pub(super) const fn plain(word: &'static str) -> Self {
        Self::new(word, "dot", "rest")
    }

    pub(super) const fn good(word: &'static str) -> Self {
        Self::new(word, "check", "good")
    }

    pub(super) const fn bad(word: &'static str) -> Self {
        Self::new(word, "cross", "bad")
    }

    pub(super) const fn warn(word: &'static str) -> Self {
        Self::new(word, "warn", "warn")
    }

    pub(super) const fn busy(word: &'static str) -> Self {
        Self::new(word, "busy", "busy")
    }

    pub(super) const fn paused(word: &'static str) -> Self {
        Self::new(word, "pause", "rest")
    }

    pub(super) const fn terminating(word: &'static str) -> Self {
        Self::new(word, "leave", "warn")
    }

    /// Of an outcome by its name, which another process may have sent.
    pub(super) fn of_outcome(name: &str) -> Self {
        match name {
            "ready" => Self::good("ready"),
            // On its way to being ready.
            "synced" => Self::new("synced", "dots", "busy"),
            "wrote" => Self::new("wrote", "pen", "busy"),
            "waiting" => Self::new("waiting", "clock", "warn"),
            "paused" => Self::paused("paused"),
            "finalized" => Self::new("finalized", "leave", "rest"),
            "gone" => Self::new("gone", "leave", "rest"),
            "failed" => Self::bad("failed"),
            _ => Self::plain("unknown"),
        }
    }

    pub(super) fn word(self) -> &'static str {
        self.word
    }

    pub(super) fn sign(self) -> &'static str {
        self.sign
    }

    pub(super) fn tone(self) -> &'static str {
        self.tone
    }
}

impl From<ParentPhase> for Mark {
    fn from(phase: ParentPhase) -> Self {
        let (sign, tone) = match phase {
            ParentPhase::Pending => ("dots", "busy"),
            ParentPhase::Running => ("busy", "busy"),
            ParentPhase::Ready => ("check", "good"),
            ParentPhase::Synced => ("warn", "warn"),
            ParentPhase::Waiting => ("clock", "warn"),
            ParentPhase::Failing => ("cross", "bad"),
            ParentPhase::Stalled => ("stop", "bad"),
            ParentPhase::Finalizing => ("leave", "warn"),
            ParentPhase::Paused => ("pause", "rest"),
        };
        Self::new(phase.name(), sign, tone)
    }
}

impl From<&OperatorState> for Mark {
    fn from(state: &OperatorState) -> Self {
        let (sign, tone) = match state {
            OperatorState::Starting { .. } => ("dots", "busy"),
            OperatorState::Running => ("check", "good"),
            OperatorState::Degraded { .. } => ("warn", "bad"),
        };
        Self::new(state.name(), sign, tone)
    }
}

impl From<&OperatorSnapshot> for Mark {
    /// A running operator may be a standby or paused; other states take precedence.
    fn from(operator: &OperatorSnapshot) -> Self {
        let is_standby = operator.leadership.as_ref().is_some_and(|it| !it.leads);
        match (&operator.state, &operator.paused) {
            (OperatorState::Running, _) if is_standby => Self::paused("standby"),
            (OperatorState::Running, Some(_)) => Self::paused("paused"),
            (state, _) => state.into(),
        }
    }
}

impl From<&Outcome> for Mark {
    fn from(outcome: &Outcome) -> Self {
        Self::of_outcome(outcome.name())
    }
}

impl From<Decided> for Mark {
    fn from(decided: Decided) -> Self {
        let (word, sign, tone) = match decided {
            Decided::Failed => ("failed", "cross", "bad"),
            Decided::Conflict => ("conflict", "stop", "bad"),
            Decided::Refused => ("refused", "stop", "bad"),
            Decided::Waiting => ("waiting", "clock", "warn"),
            Decided::Held => ("held", "pause", "warn"),
            Decided::Created => ("created", "plus", "good"),
            Decided::Adopted => ("adopted", "plus", "good"),
            Decided::Updated => ("updated", "pen", "busy"),
            Decided::Recreated => ("recreated", "minus", "busy"),
            Decided::Deleted => ("deleted", "minus", "bad"),
            Decided::Unchanged => ("unchanged", "dot", "rest"),
        };
        Self::new(word, sign, tone)
    }
}

impl Prose {
    fn parts(&self) -> impl Iterator<Item = (bool, &str)> {
        coded(&self.0)
    }
}

/// The parts of a text, and whether each is code: it is between backticks.
pub(super) fn coded(text: &str) -> impl Iterator<Item = (bool, &str)> {
    // An odd number of backticks is ambiguous, so none is markup.
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let marker = if is_paired { '`' } else { '\0' };
    text.split(marker).enumerate().map(|(at, text)| (at % 2 == 1, text))
}

impl<T: Into<String>> From<T> for Prose {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Bar {
    pub(super) fn new(operator: &OperatorSnapshot) -> Self {
        let parts = parts(operator.info.name.as_str(), &operator.parents);
        let words = parts.iter().map(|part| format!("{} {}", part.count, part.mark.word()));
        let label = words.collect::<Vec<_>>().join(", ");
        Self { label: if label.is_empty() { "no parents".to_owned() } else { label }, parts }
    }
}

impl Part {
    pub(super) fn number(&self) -> String {
        count(self.count)
    }
}

/// The phases that have parents, worst first.
pub(super) fn parts(operator: &str, counts: &BTreeMap<ParentPhase, usize>) -> Vec<Part> {
    let total: usize = counts.values().sum();
    let mut x = 0.0;
    let part = |phase: ParentPhase| {
        let count = counts.get(&phase).copied().filter(|count| *count > 0)?;
        let width = percent(count, total);
        let href = links::in_phase(operator, phase);
        let part = Part { mark: phase.into(), count, href, x, width };
        x += width;
        Some(part)
    };
    WORST_FIRST.into_iter().filter_map(part).collect()
}

/// The order of phases in bars and chips.
pub(super) const WORST_FIRST: [ParentPhase; 9] = [
    ParentPhase::Stalled,
    ParentPhase::Failing,
    ParentPhase::Waiting,
    ParentPhase::Synced,
    ParentPhase::Finalizing,
    ParentPhase::Paused,
    ParentPhase::Pending,
    ParentPhase::Running,
    ParentPhase::Ready,
];

#[expect(clippy::cast_precision_loss, reason = "the width of a bar")]
fn percent(count: usize, total: usize) -> f64 {
    (count as f64 * 1e4 / total.max(1) as f64).round() / 100.0
}

/// A count with separated thousands.
pub(super) fn count(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A size in bytes with two or three digits.
#[expect(clippy::cast_precision_loss, reason = "it is rounded")]
pub(super) fn size(bytes: usize) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1000.0 && unit + 1 < units.len() {
        amount /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && amount < 100.0);
    format!("{amount:.decimals$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_backticks_is_code_and_all_text_is_escaped() {
        let shown = |text: &str| Prose(text.to_owned()).to_string();
        assert_eq!(shown("no `a<b>` & `c`"), "no <code>a&#60;b&#62;</code> &#38; <code>c</code>");
        assert_eq!(shown("an `odd one"), "an `odd one");
    }

    #[test]
    fn counts_and_sizes_are_formatted() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let sizes = [12, 1500, 123_456, 7_000_000].map(size);
        assert_eq!(sizes, ["12 B", "1.5 kB", "123 kB", "7.0 MB"]);
        assert_eq!(counted(1, "child", "children"), "1 child");
    }

    #[test]
    fn the_worst_phases_come_first_and_empty_ones_are_omitted() {
        let counts = ParentPhase::ALL.into_iter().map(|phase| (phase, 0));
        let mut counts: BTreeMap<_, _> = counts.collect();
        counts.extend([(ParentPhase::Ready, 3), (ParentPhase::Failing, 1)]);
        let parts = parts("op", &counts);
        let seen: Vec<_> =
            parts.iter().map(|it| (it.mark.word(), it.count, it.x, it.width)).collect();
        assert_eq!(seen, [("failing", 1, 0.0, 25.0), ("ready", 3, 25.0, 75.0)]);
    }

    #[test]
    fn every_outcome_has_a_mark_with_its_name() {
        assert!(Outcome::NAMES.iter().all(|name| Mark::of_outcome(name).word() == *name));
        assert_eq!(Mark::of_outcome("odd"), Mark::plain("unknown"));
    }

    #[test]
    fn a_mark_has_a_word_a_sign_and_a_tone_for_every_phase() {
        for phase in ParentPhase::ALL {
            let html = Mark::from(phase).to_string();
            assert!(html.contains(phase.name()) && html.contains("<use href=\"#i-"), "{html}");
        }
    }
}
