//! What was tried over HTTP that changes something, and what became of it.

use super::Metrics;

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// A browser is to have a session.
    Login,
    /// It is to have none any more.
    Logout,
    /// Whatever else changes something.
    Command,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It was done, or is going to be.
    Done,
    /// Nobody knows who asked.
    Unauthenticated,
    /// Who asked may not.
    Forbidden,
    /// It is not to be had, or not now.
    Refused,
    /// It was tried in vain.
    Failed,
    /// Nobody waited for the answer.
    Abandoned,
}

impl Attempt {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Login, Self::Logout, Self::Command];

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Logout => "logout",
            Self::Command => "command",
        }
    }
}

impl AttemptOutcome {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Done,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Refused,
        Self::Failed,
        Self::Abandoned,
    ];

    /// In one word.
    pub fn name(self) -> &'static str {
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
    /// Something was tried over HTTP.
    pub fn web_attempt(&self, attempt: Attempt, outcome: AttemptOutcome) {
        let labels = [attempt.name(), outcome.name()];
        self.families().web_attempts.with_label_values(&labels).inc();
    }

    /// The web endpoint is served: its counters show zero instead of nothing.
    pub fn web_served(&self) {
        for attempt in Attempt::ALL {
            for outcome in AttemptOutcome::ALL {
                let labels = [attempt.name(), outcome.name()];
                self.families().web_attempts.with_label_values(&labels).inc_by(0);
            }
        }
    }
}
