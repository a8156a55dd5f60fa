//! What a decorator records of the replicas that it holds, as a label of the parent.

use std::{collections::BTreeMap, fmt, str::FromStr};

use crate::object::Object;

/// The replicas of a parent that a decorator holds, see
/// [`Decoration::hold_replicas`](super::Decoration::hold_replicas).
///
/// It is the label `NAME.operetta.dev/replicas` of the parent, for example `held-3-at-0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeldReplicas {
    /// The replicas that the parent had before, which it gets back.
    pub before: i32,
    /// The replicas at which it is held.
    pub at: i32,
    /// How far that is.
    pub phase: HeldPhase,
}

/// How far a decorator is with the replicas that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeldPhase {
    /// The earlier number is recorded, and the parent is about to be scaled.
    Recorded,
    /// The parent has been scaled.
    Held,
    /// Somebody else has scaled it since: it is not scaled again until the handler holds nothing.
    Overridden,
}

impl HeldReplicas {
    /// What the decorator of this name holds of a parent.
    pub fn of(parent: &Object, operator: &str) -> Option<Self> {
        Self::in_labels(&parent.labels(), operator)
    }

    pub(crate) fn in_labels(labels: &BTreeMap<String, String>, operator: &str) -> Option<Self> {
        labels.get(&Self::label(operator))?.parse().ok()
    }

    /// The label of a decorator.
    pub fn label(operator: &str) -> String {
        format!("{operator}.operetta.dev/replicas")
    }
}

impl HeldPhase {
    const ALL: [Self; 3] = [Self::Recorded, Self::Held, Self::Overridden];

    fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Held => "held",
            Self::Overridden => "overridden",
        }
    }
}

impl fmt::Display for HeldReplicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-at-{}", self.phase.as_str(), self.before, self.at)
    }
}

/// A text is not what a decorator records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not `recorded`, `held` or `overridden` with two numbers, such as `held-3-at-0`")]
pub struct ParseHeldError;

impl FromStr for HeldReplicas {
    type Err = ParseHeldError;

    fn from_str(text: &str) -> Result<Self, ParseHeldError> {
        let (rest, at) = text.rsplit_once("-at-").ok_or(ParseHeldError)?;
        let (phase, before) = rest.split_once('-').ok_or(ParseHeldError)?;
        let phase = HeldPhase::ALL.into_iter().find(|it| it.as_str() == phase);
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<i32>().ok().filter(|_| is_number).ok_or(ParseHeldError)
        };
        Ok(Self { before: number(before)?, at: number(at)?, phase: phase.ok_or(ParseHeldError)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_read_again_and_nothing_else_is() {
        for phase in HeldPhase::ALL {
            let held = HeldReplicas { before: 100_000, at: 0, phase };
            assert_eq!(held.to_string().parse(), Ok(held));
        }
        for text in [
            "",
            "held",
            "held-3",
            "held-3-at-",
            "held--3-at-0",
            "kept-3-at-0",
            "held-99999999999-at-0",
        ] {
            assert_eq!(text.parse::<HeldReplicas>(), Err(ParseHeldError), "{text}");
        }
    }
}
