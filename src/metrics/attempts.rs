//! Attempts to change something over HTTP, and their outcomes.

use super::Metrics;

/// What was attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// To start a session of a browser.
    Login,
    /// To end it.
    Logout,
    /// Any other change.
    Command,
}

/// Its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptOutcome {
    /// It was executed or accepted.
    Done,
    /// The caller is unknown.
    Unauthenticated,
    /// The caller lacks the permission.
    Forbidden,
    /// It is not possible, or not now.
    Refused,
    /// It was attempted and failed.
    Failed,
    /// The client went away before the answer.
    Abandoned,
}

impl Attempt {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Login, Self::Logout, Self::Command];

    /// The value of the label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Logout => "logout",
            Self::Command => "command",
        }
    }
}

impl AttemptOutcome {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Done,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Refused,
        Self::Failed,
        Self::Abandoned,
    ];

    /// The value of the label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}

impl Metrics {
    pub(crate) fn web_attempt(&self, attempt: Attempt, outcome: AttemptOutcome) {
        let labels = [attempt.name(), outcome.name()];
        self.families().web_attempts.with_label_values(&labels).inc();
    }

    /// Initializes the counters of the web endpoint with zero.
    pub(crate) fn web_served(&self) {
        for attempt in Attempt::ALL {
            for outcome in AttemptOutcome::ALL {
                let labels = [attempt.name(), outcome.name()];
                self.families().web_attempts.with_label_values(&labels).inc_by(0);
            }
        }
    }
}
