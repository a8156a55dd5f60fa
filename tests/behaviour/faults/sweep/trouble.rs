//! What goes wrong in a life.

use super::{life::Request, *};

/// What goes wrong at one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mishap {
    Refused,
    Conflicting,
    Busy,
    Lost,
    Cut,
    /// The process ends right after the request took effect, and another one begins.
    Stopped,
    /// Before the request reaches the server a person makes the next step.
    Overtaken,
}

#[derive(Debug)]
pub(super) enum Trouble {
    At(Request, Mishap),
    /// What these watches tell comes only after the operator had its time to follow the step.
    Lags(Step, &'static [&'static str]),
}

impl Mishap {
    pub(super) const ALL: [Self; 7] = [
        Self::Refused,
        Self::Conflicting,
        Self::Busy,
        Self::Lost,
        Self::Cut,
        Self::Stopped,
        Self::Overtaken,
    ];

    /// What the request meets. Reads are never in conflict.
    pub(super) fn at(self, request: &Request) -> Rule {
        let fault = match self {
            Self::Conflicting if request.is_write() => Fault::refuse(409),
            Self::Refused | Self::Conflicting => Fault::refuse(500),
            Self::Busy => Fault::busy(1),
            Self::Lost => Fault::LoseReply,
            Self::Cut => Fault::CutReply,
            Self::Stopped => Fault::HoldReply,
            Self::Overtaken => Fault::HoldRequest,
        };
        Rule::new(fault)
    }

    /// Whether somebody has to act while the request is on its way.
    pub(super) fn holds(self) -> bool {
        matches!(self, Self::Stopped | Self::Overtaken)
    }
}
