//! How a user pauses the reconciliation of one parent, and what is known of a pause. Reads no clock.

use std::{fmt, time::SystemTime};

use k8s_openapi::jiff::Timestamp;

use crate::object::Object;

/// The annotation that pauses a parent.
///
/// Its value is `true`, in any case, or parts that say more, in any order and each of them optional:
/// `by=alice@example.com; since=2026-11-30T10:00:00Z; until=2026-12-01T10:00:00Z; reason=the volume is moved`.
/// Times are in RFC 3339. The reason is the last part, because it goes on to the end of the value. At most 4096 bytes of a
/// value are read.
///
/// From `until` on the parent is not paused any more: it is reconciled at once, and the annotation stays. A value with a
/// part that is not understood pauses, and a Warning Event names the part. A value with no such part at all, such as
/// `yes`, does not pause, and a Warning Event reports it unless it is `false` or empty.
///
/// While a parent is paused no child of it is created, changed or deleted, it is not finalized, and
/// its finalizers stay as they are. Its handler is still called, and its status is updated: the
/// condition `Paused` shows what would be written. When the annotation is removed the parent is
/// reconciled at once.
///
/// A paused parent that is deleted waits for its finalizer, if it has one, until it is no longer
/// paused. Kubernetes collects its children as usual when it is deleted.
pub const PAUSED_ANNOTATION: &str = "operetta.dev/paused";

/// What is known of a pause of a parent or of an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pause {
    pub(crate) by: Option<Box<str>>,
    pub(crate) since: Option<SystemTime>,
    pub(crate) until: Option<SystemTime>,
    pub(crate) reason: Option<Box<str>>,
}

/// A value of the annotation that is not understood, at least in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MisunderstoodPause {
    /// The value or the part, shortened.
    pub(crate) text: String,
    /// Whether the value pauses nevertheless.
    pub(crate) pauses: bool,
}

/// The most bytes of a value that are read.
const MAX_VALUE: usize = 4096;
/// The longest reason, in characters.
pub(crate) const MAX_REASON: usize = 512;
/// The longest name of a user, in characters.
const MAX_BY: usize = 256;
/// The longest quote of what is not understood, in characters.
const MAX_ODD: usize = 32;

/// Whether a parent is paused at this time.
pub fn is_paused(parent: &Object, now: SystemTime) -> bool {
    Pause::of(parent).is_some_and(|pause| !pause.is_over(now))
}

/// What is not understood of the annotation.
pub(crate) fn misunderstood_pause(parent: &Object) -> Option<MisunderstoodPause> {
    let Read { pause, odd } = Read::of(parent.annotations().get(PAUSED_ANNOTATION)?);
    odd.map(|text| MisunderstoodPause { text, pauses: pause.is_some() })
}

// === Pause ===

impl Pause {
    /// The pause in the annotation of a parent, also if it is over.
    pub fn of(parent: &Object) -> Option<Self> {
        Read::of(parent.annotations().get(PAUSED_ANNOTATION)?).pause
    }

    /// A pause that begins now, in whole seconds.
    pub(crate) fn begun(
        now: SystemTime,
        by: Option<&str>,
        until: Option<SystemTime>,
        reason: Option<&str>,
    ) -> Self {
        let second = |at| Timestamp::from_second(Timestamp::try_from(at).ok()?.as_second()).ok();
        Self {
            by: by.and_then(|by| text(by, MAX_BY)),
            since: second(now).map(SystemTime::from),
            until,
            reason: reason.and_then(|reason| text(reason, MAX_REASON)),
        }
    }

    /// Who paused it, as far as is known.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// Since when it is paused, as far as is known.
    pub fn since(&self) -> Option<SystemTime> {
        self.since
    }

    /// When it ends by itself; `None` if it does not.
    pub fn until(&self) -> Option<SystemTime> {
        self.until
    }

    /// Why it is paused, as far as is known.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Whether it has ended by itself at this time.
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Whether nothing is known but that there is a pause.
    pub(crate) fn is_bare(&self) -> bool {
        *self == Self::default()
    }

    /// The same with these texts of users instead.
    pub(crate) fn with_texts(&self, shown: impl Fn(&str) -> String) -> Self {
        let shown = |text: &Option<Box<str>>| text.as_deref().map(|text| shown(text).into());
        Self { by: shown(&self.by), reason: shown(&self.reason), ..self.clone() }
    }

    /// The value of the annotation.
    pub(crate) fn annotation(&self) -> String {
        let Self { by, since, until, reason } = self;
        // The name of a user may have any characters.
        let by = by.as_ref().map(|by| format!("by={}", by.replace(';', ",")));
        let since = since.map(|at| format!("since={}", exact(at)));
        let until = until.map(|at| format!("until={}", exact(at)));
        let reason = reason.as_ref().map(|reason| format!("reason={reason}"));
        let parts: Vec<String> = [by, since, until, reason].into_iter().flatten().collect();
        if parts.is_empty() { "true".to_owned() } else { parts.join("; ") }
    }

    /// The begin of a sentence: who.
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(crate) fn who(&self) -> &str {
        self.by.as_deref().unwrap_or("A user")
    }

    /// Since when and until when, each after a space.
    pub(crate) fn span(&self) -> String {
        let since = self.since.map(|at| format!(" since {}", exact(at)));
        format!("{}{}", since.unwrap_or_default(), self.end())
    }

    /// Until when, after a space.
    pub(crate) fn end(&self) -> String {
        self.until.map(|at| format!(" until {}", exact(at))).unwrap_or_default()
    }

    /// The reason as a sentence, after a space.
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(crate) fn reason_given(&self) -> String {
        let sentence = |reason: &str| format!(" The reason: {}.", reason.trim_end_matches('.'));
        self.reason.as_deref().map(sentence).unwrap_or_default()
    }
}

impl fmt::Display for Pause {
    /// A phrase: `paused by alice since 2026-11-30T10:00:00Z until 2026-12-01T10:00:00Z: the volume is moved`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}"));
        write!(f, "paused{by}{}{}", self.span(), reason.unwrap_or_default())
    }
}

/// RFC 3339 in UTC, with a fraction only if there is one.
fn exact(at: SystemTime) -> String {
    Timestamp::try_from(at).map_or_else(|_| "an unknown time".to_owned(), |at| at.to_string())
}

/// A text of a user in one line; `None` if it is empty.
fn text(text: &str, longest: usize) -> Option<Box<str>> {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.trim().chars().take(longest).map(shown).collect();
    (!text.is_empty()).then(|| text.into())
}

// === the annotation ===

/// What a value of the annotation says.
#[derive(Debug, Default)]
struct Read {
    /// The pause that it means.
    pause: Option<Pause>,
    /// The first that is not understood.
    odd: Option<String>,
}

impl Read {
    fn of(value: &str) -> Self {
        if value.eq_ignore_ascii_case("true") {
            return Self { pause: Some(Pause::default()), odd: None };
        }
        if value.is_empty() || value.eq_ignore_ascii_case("false") {
            return Self::default();
        }
        let read = if value.contains(['=', ';']) { Self::of_parts(value) } else { Self::default() };
        match read.pause {
            Some(_) => read,
            None => Self { pause: None, odd: Some(quote(value)) },
        }
    }

    fn of_parts(value: &str) -> Self {
        let mut read = Self::default();
        let mut left = &value[..value.floor_char_boundary(MAX_VALUE)];
        while !left.is_empty() {
            let (part, others) = if is_reason(left) {
                (left, "")
            } else {
                left.split_once(';').unwrap_or((left, ""))
            };
            read.add(part.trim());
            left = others;
        }
        if value.len() > MAX_VALUE {
            read.odd.get_or_insert_with(|| format!("what follows its first {MAX_VALUE} bytes"));
        }
        read
    }

    /// A known name means a pause, also with a value that is not understood.
    fn add(&mut self, part: &str) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let time = || value.parse::<Timestamp>().ok().map(SystemTime::from);
        let mut pause = self.pause.clone().unwrap_or_default();
        let is_understood = match name.as_str() {
            "" | "true" if part.eq_ignore_ascii_case(&name) => true,
            "by" => {
                pause.by = text(value, MAX_BY);
                true
            }
            "reason" => {
                pause.reason = text(value, MAX_REASON);
                true
            }
            "since" => {
                pause.since = time();
                pause.since.is_some()
            }
            "until" => {
                pause.until = time();
                pause.until.is_some()
            }
            _ => {
                self.odd.get_or_insert_with(|| quote(part));
                return;
            }
        };
        if !is_understood {
            self.odd.get_or_insert_with(|| quote(part));
        }
        if !name.is_empty() {
            self.pause = Some(pause);
        }
    }
}

fn is_reason(left: &str) -> bool {
    left.split_once('=').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("reason"))
}

fn quote(text: &str) -> String {
    text.chars().take(MAX_ODD).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::object::{K8sType, KeptManagers};

    fn parent(annotations: &serde_json::Value) -> Object {
        let ty = K8sType::namespaced("example.com/v1", "App", "apps");
        let value = json!({"metadata": {
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1",
            "annotations": annotations,
        }});
        Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
    }

    fn annotated(value: &str) -> Object {
        parent(&json!({"operetta.dev/paused": value}))
    }

    fn at(time: &str) -> SystemTime {
        time.parse::<Timestamp>().unwrap().into()
    }

    #[test]
    fn only_true_or_what_is_known_of_a_pause_pauses() {
        let now = at("2026-12-01T09:00:00Z");
        for (value, expected, odd) in [
            ("true", true, None),
            ("True", true, None),
            ("TRUE", true, None),
            ("false", false, None),
            ("False", false, None),
            ("", false, None),
            ("yes", false, Some("yes")),
            (" true", false, Some(" true")),
            (";", false, Some(";")),
            ("a=b", false, Some("a=b")),
            ("no reason", false, Some("no reason")),
            ("by=ann", true, None),
            ("by=", true, None),
            ("true; reason=a; b = c; until=x", true, None),
            ("until=2026-12-01T10:00:00Z", true, None),
            ("until=2026-12-01T11:00:00+01:00;", true, None),
            ("until=2026-12-01T09:00:00Z", false, None),
            ("until=2026-12-01T08:00:00Z; reason=x", false, None),
            ("until=tomorrow", true, Some("until=tomorrow")),
            ("by=ann; since=now", true, Some("since=now")),
            ("by=ann; colour = red; until=2026-12-01T08:00:00Z", false, Some("colour = red")),
            ("by=ann; false", true, Some("false")),
        ] {
            let parent = annotated(value);
            assert_eq!(is_paused(&parent, now), expected, "{value}");
            let misunderstood = misunderstood_pause(&parent).map(|it| it.text);
            assert_eq!(misunderstood.as_deref(), odd, "{value}");
        }
        for annotations in [json!({"example.com/paused": "true"}), json!({}), json!(null)] {
            let parent = parent(&annotations);
            assert!(!is_paused(&parent, now) && misunderstood_pause(&parent).is_none());
        }
    }

    #[test]
    fn a_pause_is_what_its_annotation_says() {
        let value = " BY = ann@example.com ;since=2026-11-30T10:00:00Z; until=2026-12-01T10:00:00Z; \
                     reason = the DBA moves it; by=x, and\nwaits ";
        let pause = Pause::of(&annotated(value)).unwrap();
        assert_eq!(
            pause.to_string(),
            "paused by ann@example.com since 2026-11-30T10:00:00Z until 2026-12-01T10:00:00Z: the DBA \
             moves it; by=x, and waits"
        );
        assert_eq!(Pause::of(&annotated(&pause.annotation())), Some(pause));
        assert_eq!(Pause::of(&annotated("true")).unwrap().to_string(), "paused");
        assert_eq!(Pause::default().annotation(), "true");
    }

    #[test]
    fn a_pause_that_begins_fits_into_its_annotation() {
        let (long, now) = ("ä;\n".repeat(10_000), at("2026-12-01T09:00:00.25Z"));
        let until = now + Duration::from_hours(1);
        let pause = Pause::begun(now, Some(&long), Some(until), Some(&long));
        assert_eq!(pause.since, Some(at("2026-12-01T09:00:00Z")));
        assert!(pause.annotation().len() <= MAX_VALUE);
        let read = Pause::of(&annotated(&pause.annotation())).unwrap();
        assert_eq!(
            (read.since, read.until, &read.reason),
            (pause.since, pause.until, &pause.reason)
        );
        assert!(!pause.is_over(now) && pause.is_over(until));
    }

    #[test]
    fn a_value_is_read_up_to_its_limit() {
        let parent = annotated(&format!("by=ann; colour={}", "ä".repeat(MAX_VALUE)));
        let misunderstood = misunderstood_pause(&parent).unwrap();
        assert!(misunderstood.pauses && misunderstood.text.starts_with("colour=ä"));
        let parent = annotated(&format!("reason={}", "ä".repeat(MAX_VALUE)));
        let reason = Pause::of(&parent).and_then(|pause| pause.reason).unwrap();
        assert_eq!(reason.chars().count(), MAX_REASON);
        let misunderstood = misunderstood_pause(&parent).unwrap();
        assert!(misunderstood.pauses && misunderstood.text.contains("4096 bytes"));
    }
}
