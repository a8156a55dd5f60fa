//! The label of the leader on the Pod of a process: when it is set, and when it is removed. Pure.
//!
//! | the last request | role | next |
//! |---|---|---|
//! | none yet | any | a request: the Pod has the label of a process that ran in it before |
//! | in flight | any | nothing until it ends |
//! | succeeded | as it shows | nothing |
//! | succeeded | another | a request |
//! | failed | any | a request, after the retry period |

use super::SinceBoot;

/// The label of the Pod of the leader. Its value is `true`.
pub const LEADER_LABEL: &str = "operetta.dev/leader";

/// What the label of a Pod shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PodRole {
    Leader,
    /// The Pod has no label.
    Standby,
}

/// What is known of the label.
#[derive(Debug, Default)]
pub(crate) struct PodLabel {
    /// `None` at the start, and after a request that may have taken effect or not.
    shown: Option<PodRole>,
    /// What the request in flight shows.
    asked: Option<PodRole>,
    /// When a failed request is repeated.
    retry_at: Option<SinceBoot>,
}

impl PodLabel {
    /// The request to send now, if there is one. It ends with [`succeeded`](Self::succeeded) or [`failed`](Self::failed).
    pub(crate) fn due(&mut self, role: PodRole, now: SinceBoot) -> Option<PodRole> {
        let waits = self.retry_at.is_some_and(|at| now < at);
        if self.asked.is_some() || self.shown == Some(role) || waits {
            return None;
        }
        self.asked = Some(role);
        self.asked
    }

    pub(crate) fn succeeded(&mut self) {
        self.shown = self.asked.take();
        self.retry_at = None;
    }

    pub(crate) fn failed(&mut self, retry_at: SinceBoot) {
        (self.shown, self.asked) = (None, None);
        self.retry_at = Some(retry_at);
    }

    /// Whether the last request failed.
    pub(crate) fn is_failing(&self) -> bool {
        self.retry_at.is_some()
    }

    /// Whether the Pod may have the label.
    pub(crate) fn may_be_set(&self) -> bool {
        self.asked.is_some() || self.shown != Some(PodRole::Standby)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        PodRole::{Leader, Standby},
        *,
    };

    fn at(seconds: u64) -> SinceBoot {
        SinceBoot(Duration::from_secs(seconds))
    }

    #[test]
    fn a_request_is_sent_where_the_label_does_not_show_the_role_and_one_at_a_time() {
        let mut label = PodLabel::default();
        assert_eq!(label.due(Standby, at(0)), Some(Standby), "an inherited label is removed");
        assert_eq!(label.due(Leader, at(0)), None, "one is in flight");
        label.succeeded();
        assert!(!label.may_be_set());
        assert_eq!(label.due(Standby, at(0)), None);
        assert_eq!(label.due(Leader, at(0)), Some(Leader));
        assert!(label.may_be_set());
        label.succeeded();
        assert_eq!(label.due(Leader, at(0)), None);
        assert!(label.may_be_set());
    }

    #[test]
    fn a_failed_request_is_repeated_later_and_also_if_the_role_changed_back() {
        let mut label = PodLabel::default();
        label.due(Standby, at(0));
        label.succeeded();
        label.due(Leader, at(0));
        label.failed(at(2));
        assert!(label.is_failing() && label.may_be_set());
        assert_eq!(label.due(Standby, at(1)), None);
        assert_eq!(label.due(Standby, at(2)), Some(Standby), "it may have taken effect");
        assert!(label.is_failing(), "until it works again");
        label.succeeded();
        assert!(!label.is_failing() && !label.may_be_set());
    }
}
