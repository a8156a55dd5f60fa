//! What a Pod is to do, by its annotations and restart policy.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value;

use crate::simulation::{object::annotation, timing::WorkloadTiming};

/// Seconds after which the containers end.
const END_AFTER: &str = "simulation.operetta.dev/end-after";
/// The exit code of the containers; without seconds they end as those of Jobs do.
const EXIT_CODE: &str = "simulation.operetta.dev/exit-code";
/// `true` for containers that run and are never ready.
const NEVER_READY: &str = "simulation.operetta.dev/never-ready";
/// `true` for containers whose image cannot be pulled.
const NEVER_STARTS: &str = "simulation.operetta.dev/never-starts";
/// Seconds between deletion and end, at most the grace period.
const STOP_AFTER: &str = "simulation.operetta.dev/stop-after";

/// What a Pod is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// How long its containers take to start.
    pub start: SignedDuration,
    /// How long its containers run, and their exit code, if they end.
    pub end: Option<(SignedDuration, i64)>,
    /// How long its containers take to stop.
    pub stop: SignedDuration,
    /// Whether its containers never start.
    pub never_starts: bool,
    /// Whether its containers are never ready.
    pub never_ready: bool,
}

impl Script {
    /// What a Pod is to do.
    pub(super) fn of(pod: &Value, timing: WorkloadTiming) -> Self {
        let seconds = |name| annotation(pod, name).and_then(seconds);
        let code = annotation(pod, EXIT_CODE).and_then(|code| code.parse().ok());
        let is_set = |name| annotation(pod, name) == Some("true");
        let ends_by_itself =
            matches!(pod["spec"]["restartPolicy"].as_str(), Some("Never" | "OnFailure"));
        let after = seconds(END_AFTER);
        let ends = ends_by_itself || after.is_some() || code.is_some();
        let after = after.unwrap_or_else(|| signed(timing.run));
        Self {
            start: signed(timing.start),
            end: ends.then_some((after, code.unwrap_or_default())),
            stop: seconds(STOP_AFTER).unwrap_or_else(|| signed(timing.stop)),
            never_starts: is_set(NEVER_STARTS),
            never_ready: is_set(NEVER_READY),
        }
    }
}

fn seconds(text: &str) -> Option<SignedDuration> {
    let seconds = text.parse::<u32>().ok()?;
    Some(SignedDuration::from_secs(seconds.into()))
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
