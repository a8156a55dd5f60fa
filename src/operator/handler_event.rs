//! The Events that a handler returns about its parent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most Events of one response.
const MAX_EVENTS: usize = 10;
/// The longest reason that Kubernetes accepts.
const MAX_REASON: usize = 128;
/// The longest message that Kubernetes accepts, in bytes.
const MAX_MESSAGE: usize = 1024;

/// The type of a Kubernetes Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventType {
    /// What the handler desires, or what it did.
    Normal,
    /// Something needs attention.
    Warning,
}

/// A Kubernetes Event about the parent, as a handler returns it: see
/// [`SyncResponse::event`](super::SyncResponse::event). `Debug` does not show the message.
///
/// As JSON it is `{"type": "Normal", "reason": "Restored", "message": ".."}`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlerEvent {
    /// The type.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// Why, in one word for programs: `UpperCamelCase`, at most 128 letters and digits.
    pub reason: String,
    /// What happened, for users: at most 1,024 bytes.
    pub message: String,
}

impl HandlerEvent {
    /// An Event.
    pub fn new(
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { event_type, reason: reason.into(), message: message.into() }
    }

    /// Why it cannot be recorded, without quoting the message.
    fn defect(&self) -> Option<String> {
        let Self { reason, message, event_type: _ } = self;
        if !is_reason(reason) {
            let shown: String = reason.chars().take(MAX_REASON).collect();
            return Some(format!(
                "the reason {shown:?} is not one word in UpperCamelCase of at most {MAX_REASON} letters and \
                 digits: return one such as \"BackupRestored\""
            ));
        }
        (message.len() > MAX_MESSAGE).then(|| {
            let bytes = message.len();
            format!(
                "the message of {reason} has {bytes} bytes, and Kubernetes accepts {MAX_MESSAGE}: shorten it"
            )
        })
    }
}

fn is_reason(reason: &str) -> bool {
    reason.len() <= MAX_REASON
        && reason.starts_with(|first: char| first.is_ascii_uppercase())
        && reason.chars().all(|char| char.is_ascii_alphanumeric())
}

/// The Events that can be recorded, and why the others cannot.
pub(crate) fn checked_events(events: Vec<HandlerEvent>) -> (Vec<HandlerEvent>, Option<String>) {
    let (count, mut valid, mut why_not) = (events.len(), Vec::new(), None);
    for (index, event) in events.into_iter().enumerate() {
        match event.defect() {
            Some(why) => {
                let why = format!("event {} of the response: {why}", index + 1);
                why_not.get_or_insert(why);
            }
            None if valid.len() < MAX_EVENTS => valid.push(event),
            None => {
                why_not.get_or_insert(format!(
                    "the response has {count} Events, and at most {MAX_EVENTS} are recorded: combine some"
                ));
            }
        }
    }
    (valid, why_not)
}

/// The message may quote a Secret.
impl fmt::Debug for HandlerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandlerEvent({:?} {:?})", self.event_type, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(reason: &str, message: &str) -> HandlerEvent {
        HandlerEvent::new(EventType::Normal, reason, message)
    }

    #[test]
    fn an_event_that_kubernetes_would_refuse_is_named_and_its_message_is_not_quoted() {
        let (long, longest) = (format!("s3cret{}", "x".repeat(1019)), "x".repeat(1024));
        let valid = [event("R", ""), event(&"R".repeat(128), &longest)];
        assert_eq!(checked_events(valid.to_vec()), (valid.to_vec(), None));
        for (reason, message, why) in [
            ("", "", r#"the reason "" is not one word in UpperCamelCase"#),
            ("restored", "", r#"the reason "restored" is not"#),
            ("Restored it", "", r#"the reason "Restored it" is not"#),
            ("Restored\n", "", r#"the reason "Restored\n" is not"#),
            ("Réstored", "", r#"the reason "Réstored" is not"#),
            (&"R".repeat(129), "", "of at most 128 letters and digits"),
            ("Restored", &long, "the message of Restored has 1025 bytes"),
        ] {
            let (kept, defect) = checked_events(vec![event("Fine", ""), event(reason, message)]);
            let defect = defect.unwrap();
            assert!(defect.starts_with("event 2 of the response: "), "{defect}");
            assert!(defect.contains(why) && !defect.contains("s3cret"), "{defect}");
            assert_eq!(kept, [event("Fine", "")]);
        }
    }

    #[test]
    fn the_events_of_a_response_are_limited() {
        let (kept, why) = checked_events(vec![event("Fine", ""); 11]);
        let expected = "the response has 11 Events, and at most 10 are recorded: combine some";
        assert_eq!((kept.len(), why.as_deref()), (10, Some(expected)));
    }

    #[test]
    fn debug_does_not_show_the_message() {
        assert_eq!(format!("{:?}", event("Fine", "s3cret")), r#"HandlerEvent(Normal "Fine")"#);
    }
}
