//! Where a Pod is in its life, read from its status.

use jiff::Timestamp;
use serde_json::Value;

use crate::simulation::{
    object::{number, text, time},
    readiness::has_ended,
};

/// Where a Pod is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    /// The node has not seen it.
    New,
    /// Its containers are being created.
    Creating {
        /// Since when.
        since: Timestamp,
    },
    /// The image of its containers cannot be pulled.
    NotPulled,
    /// Its containers run.
    Running {
        /// Since when.
        since: Timestamp,
        /// How often they were restarted.
        restarts: i64,
    },
    /// Its containers have exited and will be restarted.
    BackOff {
        /// Their exit code.
        code: i64,
        /// When they had started.
        started: Timestamp,
        /// When they exited.
        finished: Timestamp,
        /// How often they were restarted before.
        restarts: i64,
    },
    /// Its containers have exited for good.
    Ended {
        /// Their exit code.
        code: i64,
        /// When they had started.
        started: Timestamp,
        /// When they exited.
        finished: Timestamp,
    },
}

impl Stage {
    /// The stage of a Pod, by its first container.
    pub(super) fn of(pod: &Value) -> Self {
        let status = &pod["status"];
        let container = &status["containerStatuses"][0];
        let (state, restarts) = (&container["state"], number(&container["restartCount"]));
        let exit = |terminated: &Value| {
            let time = |field: &str| time(&terminated[field]).unwrap_or(Timestamp::UNIX_EPOCH);
            (number(&terminated["exitCode"]), time("startedAt"), time("finishedAt"))
        };
        if has_ended(pod) {
            let (code, started, finished) = exit(&state["terminated"]);
            return Self::Ended { code, started, finished };
        }
        if let Some(since) = time(&state["running"]["startedAt"]) {
            return Self::Running { since, restarts };
        }
        let Some(since) = time(&status["startTime"]) else { return Self::New };
        match text(&state["waiting"]["reason"]) {
            "CrashLoopBackOff" => {
                let (code, started, finished) = exit(&container["lastState"]["terminated"]);
                Self::BackOff { code, started, finished, restarts }
            }
            "ImagePullBackOff" => Self::NotPulled,
            _ => Self::Creating { since },
        }
    }
}
