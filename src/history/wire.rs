//! The JSON forms of times, texts and wake reasons. Reads no clock.

use std::{
    borrow::Cow,
    fmt::Display,
    time::{Duration, SystemTime},
};

use k8s_openapi::jiff;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::schedule::WakeReason;

/// What [`time`] writes, for schemas.
#[derive(Debug)]
pub(crate) struct Timestamp;

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// A point in time as RFC 3339 in UTC, to the millisecond; a `serialize_with` of serde.
pub(crate) fn time<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = jiff::Timestamp::try_from(*time).ok().map(|time| format!("{time:.3}"));
    shown.serialize(serializer)
}

/// A span of time in milliseconds.
pub(super) fn millis<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(in_millis(*span))
}

/// Keeps microseconds: most reconciles take less than a millisecond.
pub(super) fn in_millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

/// A value by its `Display`.
pub(super) fn text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The same where it may be missing.
#[allow(clippy::ref_option)] // Serde passes references.
pub(super) fn text_of_some<T: Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().map(ToString::to_string).serialize(serializer)
}

#[allow(clippy::trivially_copy_pass_by_ref)] // Serde passes references.
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A text of at most this many bytes, and an ellipsis if it was cut.
pub(super) fn shortened(mut text: String, longest: usize) -> Box<str> {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest));
        text.push('…');
    }
    text.into_boxed_str()
}

/// Why a timer is set, in one word.
#[allow(clippy::trivially_copy_pass_by_ref)] // Serde passes references.
pub(super) fn wake_reason<S: Serializer>(
    why: &WakeReason,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match why {
        WakeReason::Resync => "Resync",
        WakeReason::Retry => "Retry",
        WakeReason::Throttled => "Throttled",
        WakeReason::Recheck => "Recheck",
        WakeReason::Unsettled => "Unsettled",
        WakeReason::Slowed => "Slowed",
        WakeReason::Calming => "Calming",
        WakeReason::Debounce => "Debounce",
        WakeReason::Spread => "Spread",
        WakeReason::PauseEnds => "PauseEnds",
    })
}
