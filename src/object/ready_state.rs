//! Whether an object is ready, in one word.

/// Whether an object is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadyState {
    /// It works, or has completed.
    Ready,
    /// It exists, and its type reports no more.
    Exists,
    /// It is not ready yet.
    Progressing,
    /// It has failed, or is in a state that needs manual intervention.
    Failed,
    /// It is being deleted.
    Terminating,
    /// It should exist and does not.
    Missing,
}

impl ReadyState {
    const ALL: [Self; 6] = [
        Self::Ready,
        Self::Exists,
        Self::Progressing,
        Self::Failed,
        Self::Terminating,
        Self::Missing,
    ];

    /// Whether nothing is to be waited for.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Ready | Self::Exists)
    }

    /// The state in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Exists => "Exists",
            Self::Progressing => "Progressing",
            Self::Failed => "Failed",
            Self::Terminating => "Terminating",
            Self::Missing => "Missing",
        }
    }

    /// A number to remember it by; never 0.
    pub(super) fn number(self) -> u8 {
        self as u8 + 1
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.number() == number)
    }
}
