//! Waiting for something outside of Kubernetes: when to ask again, and when to give up.
//!
//! The state is a field of the parent's status. A handler is called for many reasons; the state keeps it from asking
//! more often than it wants.

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::moment;

/// How often to ask, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollPolicy {
    /// How long to wait after the first time. Each further wait is twice as long. At least a second.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// After how long to give up, counted from the first time; `None` to wait for ever.
    pub deadline: Option<Duration>,
}

/// What a parent remembers while it waits: since when, and when it asks again.
///
/// ```
/// use operetta::{operator::Condition, prelude::*, recipes::{PollPolicy, PollTurn, Polling}};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use std::time::Duration;
///
/// const POLICY: PollPolicy = PollPolicy {
///     first: Duration::from_secs(2),
///     longest: Duration::from_secs(60),
///     deadline: Some(Duration::from_secs(3600)),
/// };
///
/// #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
/// #[serde(default)]
/// struct DomainStatus {
///     #[serde(skip_serializing_if = "Option::is_none")]
///     polling: Option<Polling>,
///     conditions: Conditions,
/// }
///
/// async fn sync(request: SyncRequest) -> Result<SyncResponse<DomainStatus>> {
///     let now = request.now();
///     let status: DomainStatus = request.object().parse_field_as("status").unwrap_or_default();
///     let mut polling = status.polling.unwrap_or_else(|| Polling::begun(now));
///     let mut is_done = false;
///     if polling.turn(POLICY, now) == PollTurn::Ask {
///         is_done = is_delegated(request.parent.name()).await?;
///         polling = polling.asked(POLICY, now);
///     }
///     let (reason, wait) = match polling.turn(POLICY, now) {
///         _ if is_done => ("Delegated", None),
///         PollTurn::Wait(wait) => ("Waiting", Some(wait)),
///         PollTurn::Ask | PollTurn::Expired => ("NotDelegatedInTime", None),
///     };
///     let mut conditions = Conditions::new();
///     conditions.set(Condition::new("Delegated", is_done, reason, ""));
///     let response = SyncResponse::status(DomainStatus { polling: Some(polling), conditions });
///     Ok(match wait {
///         Some(wait) => response.resync_after(wait),
///         None => response,
///     })
/// }
///
/// async fn is_delegated(domain: &str) -> Result<bool> {
///     Ok(domain.ends_with(".dev"))
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Polling {
    /// Since when it waits.
    #[schemars(with = "String", extend("format" = "date-time"))]
    since: Timestamp,
    /// How often it has asked.
    #[serde(default)]
    asked: u32,
    /// When it asks again.
    #[schemars(with = "String", extend("format" = "date-time"))]
    next: Timestamp,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollTurn {
    /// Ask.
    Ask,
    /// Wait so long: [`SyncResponse::resync_after`](crate::operator::SyncResponse::resync_after).
    Wait(Duration),
    /// It was asked in vain at or after the deadline. A new [`Polling::begun`] begins again.
    Expired,
}

impl Polling {
    /// Waits from now on, and asks at once.
    pub fn begun(now: SystemTime) -> Self {
        let since = moment::second_of(now);
        Self { since, asked: 0, next: since }
    }

    /// What to do at this time.
    pub fn turn(self, policy: PollPolicy, now: SystemTime) -> PollTurn {
        if self.deadline(policy).is_some_and(|deadline| self.next > deadline) {
            return PollTurn::Expired;
        }
        moment::until(self.next, now).map_or(PollTurn::Ask, PollTurn::Wait)
    }

    /// The state after it was asked in vain: it asks again after a longer wait, and once more at the deadline.
    #[must_use]
    pub fn asked(self, policy: PollPolicy, now: SystemTime) -> Self {
        let now = moment::second_of(now);
        let next = moment::after(now, policy.wait(self.asked));
        let next = match self.deadline(policy) {
            Some(deadline) if now >= deadline => moment::after(deadline, Duration::from_secs(1)),
            Some(deadline) => next.min(deadline),
            None => next,
        };
        Self { asked: self.asked.saturating_add(1), next, ..self }
    }

    /// Since when it waits.
    pub fn since(self) -> Timestamp {
        self.since
    }

    fn deadline(self, policy: PollPolicy) -> Option<Timestamp> {
        policy.deadline.map(|deadline| moment::after(self.since, deadline))
    }
}

impl PollPolicy {
    /// The wait after it was asked once more than so often.
    fn wait(self, asked: u32) -> Duration {
        let factor = 2_u32.checked_pow(asked).unwrap_or(u32::MAX);
        let wait = self.first.max(Duration::from_secs(1)).saturating_mul(factor);
        wait.min(self.longest.max(Duration::from_secs(1)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const POLICY: PollPolicy = PollPolicy {
        first: Duration::from_secs(2),
        longest: Duration::from_secs(10),
        deadline: Some(Duration::from_secs(30)),
    };

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// When it asks if nothing ever comes, and when it gives up.
    fn asks(policy: PollPolicy) -> (Vec<u64>, Option<u64>) {
        let (mut state, mut now, mut asks) = (Polling::begun(at(100)), 100, Vec::new());
        while asks.len() < 8 {
            match state.turn(policy, at(now)) {
                PollTurn::Ask => {
                    asks.push(now - 100);
                    state = state.asked(policy, at(now));
                }
                PollTurn::Wait(wait) => now += wait.as_secs(),
                PollTurn::Expired => return (asks, Some(now - 100)),
            }
        }
        (asks, None)
    }

    #[test]
    fn it_asks_less_and_less_often_until_the_deadline_and_once_then() {
        assert_eq!(asks(POLICY), (vec![0, 2, 6, 14, 24, 30], Some(30)));
        let patient = PollPolicy { deadline: None, ..POLICY };
        assert_eq!(asks(patient), (vec![0, 2, 6, 14, 24, 34, 44, 54], None));
        let impatient =
            PollPolicy { first: Duration::ZERO, longest: Duration::ZERO, deadline: None };
        assert_eq!(asks(impatient).0, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_handler_that_is_called_meanwhile_waits_for_the_rest() {
        let state = Polling::begun(at(0)).asked(POLICY, at(0));
        let half = at(1) + Duration::from_millis(500);
        assert_eq!(state.turn(POLICY, half), PollTurn::Wait(Duration::from_millis(500)));
    }

    #[test]
    fn after_an_outage_beyond_the_deadline_it_asks_once_more() {
        let state = Polling::begun(at(0)).asked(POLICY, at(0));
        assert_eq!(state.turn(POLICY, at(1000)), PollTurn::Ask);
        let state = state.asked(POLICY, at(1000));
        assert_eq!(state.turn(POLICY, at(1000)), PollTurn::Expired);
        assert_eq!(state.turn(POLICY, at(1)), PollTurn::Expired);
    }

    #[test]
    fn the_state_is_read_back_from_a_status() {
        let state = Polling::begun(at(0)).asked(POLICY, at(5));
        let json = serde_json::to_value(state).unwrap();
        let expected =
            json!({"since": "1970-01-01T00:00:00Z", "asked": 1, "next": "1970-01-01T00:00:07Z"});
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Polling>(json).unwrap(), state);
    }
}
