//! Which of those that may change an object look at it again, after others changed it. Values only.

use std::collections::BTreeSet;

use serde_json::Value;

/// What is known of one kind of them in the two rounds of a write.
#[derive(Debug, Default)]
pub(super) struct Again {
    is_second: bool,
    /// Whether there is to be a second round.
    is_due: bool,
    /// Those that were asked and want to see later changes.
    asked: BTreeSet<String>,
    /// Those of them after which something changed.
    due: BTreeSet<String>,
    /// The object after the first round.
    output: Option<Value>,
}

impl Again {
    /// Whether there is to be a second round.
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Begins the second round.
    pub(super) fn start_second(&mut self) {
        self.is_second = true;
    }

    /// Begins a round with an object, which others may have changed after the last one.
    pub(super) fn begin(&mut self, object: Option<&Value>) {
        if self.is_second && self.output.as_ref() != object {
            self.require();
        }
    }

    /// Whether it is not the turn of one in this round.
    pub(super) fn skips(&self, id: &str) -> bool {
        self.is_second && !self.due.contains(id)
    }

    /// The object changed: those that were asked look again.
    pub(super) fn changed(&mut self) {
        self.require();
        self.is_due = true;
    }

    /// One was asked that wants to see later changes.
    pub(super) fn remember(&mut self, id: &str) {
        self.asked.insert(id.to_owned());
    }

    /// Ends a round.
    pub(super) fn end(&mut self, object: Option<&Value>) {
        self.output = object.cloned();
    }

    fn require(&mut self) {
        self.due.append(&mut self.asked);
    }
}
