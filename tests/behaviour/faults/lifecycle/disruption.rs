//! The disruptions of a lifecycle.

use super::{run::Request, *};

/// The disruption of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disruption {
    Refused,
    Conflicting,
    Busy,
    Lost,
    Cut,
    /// The process is restarted right after the request took effect.
    Stopped,
    /// The next step is made before the request reaches the server.
    Overtaken,
}

#[derive(Debug)]
pub(super) enum Injection {
    At(Request, Disruption),
    /// The events of these watches arrive late in the step.
    Lags(Step, &'static [&'static str]),
}

impl Disruption {
    pub(super) const ALL: [Self; 7] = [
        Self::Refused,
        Self::Conflicting,
        Self::Busy,
        Self::Lost,
        Self::Cut,
        Self::Stopped,
        Self::Overtaken,
    ];

    /// The rule of the disruption. Reads never conflict.
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

    /// Whether the run acts while the request is held.
    pub(super) fn holds(self) -> bool {
        matches!(self, Self::Stopped | Self::Overtaken)
    }
}
