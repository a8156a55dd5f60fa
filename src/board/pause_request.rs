//! What a user says about a pause. Values only: the time comes from the caller.

use std::time::{Duration, SystemTime};

use super::CommandError;
use crate::operator::Pause;

/// What a user says about a pause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PauseRequest {
    /// Why.
    pub(crate) reason: Option<String>,
    /// When it ends by itself; `None` if it does not.
    pub(crate) end: Option<PauseEnd>,
}

/// When a pause ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PauseEnd {
    /// At this time.
    At(SystemTime),
    /// After this time.
    After(Duration),
}

impl PauseRequest {
    /// The pause that begins now.
    ///
    /// # Errors
    /// It would have ended already.
    pub(crate) fn begun(&self, now: SystemTime, by: Option<&str>) -> Result<Pause, CommandError> {
        let until = match self.end {
            Some(PauseEnd::At(at)) => Some(at),
            Some(PauseEnd::After(after)) => now.checked_add(after),
            None => None,
        };
        let pause = Pause::begun(now, by, until, self.reason.as_deref());
        if pause.is_over(now) {
            return Err(CommandError::Invalid("the pause would end in the past".to_owned()));
        }
        Ok(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_after_its_begin() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(5);
        let hour = Duration::from_hours(1);
        let begun =
            |end| PauseRequest { reason: Some(" why ".to_owned()), end }.begun(now, Some("ann"));
        let pause = begun(Some(PauseEnd::After(hour))).unwrap();
        assert_eq!(
            pause.to_string(),
            "paused by ann since 1970-01-01T05:00:00Z until 1970-01-01T06:00:00Z: why"
        );
        assert_eq!(begun(Some(PauseEnd::At(now + hour))).unwrap(), pause);
        assert_eq!(begun(None).unwrap().until(), None);
        for past in [PauseEnd::At(now), PauseEnd::After(Duration::ZERO)] {
            assert!(matches!(begun(Some(past)), Err(CommandError::Invalid(_))));
        }
    }
}
