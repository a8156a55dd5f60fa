//! An Event that a handler returned about its parent.

use crate::{
    object::{Quoted, Redactor},
    operator::{EventType, HandlerEvent},
    reply::EventKind,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReturnedEvent {
    pub(crate) kind: EventKind,
    /// One word in `UpperCamelCase`.
    pub(crate) reason: String,
    pub(crate) message: Quoted,
}

impl ReturnedEvent {
    /// The same after redaction.
    #[must_use]
    pub(crate) fn shown(&self, redactor: &Redactor) -> Self {
        Self { message: redactor.shown(&self.message), ..self.clone() }
    }
}

impl From<HandlerEvent> for ReturnedEvent {
    fn from(HandlerEvent { event_type, reason, message }: HandlerEvent) -> Self {
        let kind = match event_type {
            EventType::Normal => EventKind::Normal,
            EventType::Warning => EventKind::Warning,
        };
        Self { kind, reason, message: Quoted::new(message) }
    }
}
