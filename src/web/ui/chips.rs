//! What a list of parents can be restricted to by a click, with counts. Pure.

use serde::{Deserialize, Serialize};

use super::parts::WORST_FIRST;
use crate::board::{ParentPhase, ParentState};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chip {
    All,
    NotReady,
    In(ParentPhase),
    Flapping,
    /// Deletions of it are held.
    Held,
}

/// How many parents are in each chip, in the order of the chips.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Counts([usize; COUNT]);

const COUNT: usize = WORST_FIRST.len() + 4;

impl Chip {
    fn all() -> impl Iterator<Item = Self> {
        let phases = WORST_FIRST.into_iter().map(Self::In);
        [Self::All, Self::NotReady].into_iter().chain(phases).chain([Self::Flapping, Self::Held])
    }

    /// By its value in a query.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::all().find(|chip| chip.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "",
            Self::NotReady => "not-ready",
            Self::In(phase) => phase.name(),
            Self::Flapping => "flapping",
            Self::Held => "held",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::NotReady => "not ready",
            Self::Held => "deletions held",
            Self::In(_) | Self::Flapping => self.name(),
        }
    }

    pub(super) fn has(self, state: &ParentState) -> bool {
        match self {
            Self::All => true,
            Self::NotReady => state.phase != ParentPhase::Ready,
            Self::In(phase) => state.phase == phase,
            Self::Flapping => state.flapping_summary.is_some(),
            Self::Held => state.approval.is_some(),
        }
    }
}

impl Counts {
    pub(super) fn add(&mut self, state: &ParentState) {
        for (count, chip) in self.0.iter_mut().zip(Chip::all()) {
            *count += usize::from(chip.has(state));
        }
    }

    /// Counts those of another process in.
    pub(super) fn add_all(&mut self, Self(others): &Self) {
        for (count, other) in self.0.iter_mut().zip(others) {
            *count += other;
        }
    }

    /// The chips that have parents, and the selected one.
    pub(super) fn shown(&self, selected: Option<Chip>) -> impl Iterator<Item = (Chip, usize)> {
        let is_shown = move |(chip, count): &(Chip, usize)| {
            *count > 0 || *chip == Chip::All || Some(*chip) == selected
        };
        Chip::all().zip(self.0).filter(is_shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        object::Uid,
        plan::{FlappingReason, FlappingSummary},
    };

    #[test]
    fn a_chip_without_parents_is_left_out_unless_it_is_selected() {
        let state = |phase| ParentState { phase, ..ParentState::pending(Uid::new("u"), None) };
        let (why, message) = (FlappingReason::FightingOverFields, "a rival".to_owned());
        let summary = Some(Box::new(FlappingSummary { why, message }));
        let flaps = ParentState { flapping_summary: summary, ..state(ParentPhase::Ready) };
        let held = ParentState { approval: Some("c0de".into()), ..state(ParentPhase::Waiting) };
        let mut counts = Counts::default();
        for state in [flaps, held, state(ParentPhase::Ready)] {
            counts.add(&state);
        }
        let shown = |selected| {
            let chips = counts.shown(selected).map(|(chip, count)| (chip.words(), count));
            chips.collect::<Vec<_>>()
        };
        let expected = [
            ("all", 3),
            ("not ready", 1),
            ("waiting", 1),
            ("ready", 2),
            ("flapping", 1),
            ("deletions held", 1),
        ];
        assert_eq!(shown(Some(Chip::All)), expected);
        assert!(shown(Chip::named("stalled")).contains(&("stalled", 0)));
        let sent = serde_json::to_string(&counts).unwrap();
        counts.add_all(&serde_json::from_str(&sent).unwrap());
        assert_eq!(counts.shown(None).next(), Some((Chip::All, 6)));
        assert_eq!(Counts::default().shown(None).count(), 1);
    }

    #[test]
    fn every_chip_is_found_by_its_name() {
        assert_eq!(Chip::all().count(), COUNT);
        assert!(Chip::all().all(|chip| Chip::named(chip.name()) == Some(chip)));
        assert_eq!(Chip::named("odd"), None);
    }
}
