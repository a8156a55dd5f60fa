//! What is written again and again for one parent, and what to say about it. A few counters for
//! what was written again of late; none for a parent that is at rest. Reads no clock.
//!
//! *Again and again* is [`LIMIT`] times the same field of the same child, none later than a window
//! after the one before. It ends when a window has passed without.

use std::time::{Duration, Instant};

use super::{ChildId, RewriteReason, contained::MAX_PATHS};
use crate::operator::Condition;

/// What is written again and again for one parent.
#[derive(Debug, Clone, Default)]
pub struct Flapping(Vec<Contested>);

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A child.
    Child(ChildId),
    /// The status of the parent.
    Status,
    /// The finalizers of the parent.
    Finalizers,
}

/// Why something is written again; a name is the reason of the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlappingReason {
    /// Somebody else changes a child back.
    FightingOverFields,
    /// Somebody else takes our finalizer off the parent again, or puts it back on.
    FightingOverFinalizer,
    /// Somebody else changes the parent's status back.
    FightingOverStatus,
    /// The handler answers differently to the same request.
    UnstableHandler,
}

#[derive(Debug, Clone)]
struct Contested {
    subject: Subject,
    why: FlappingReason,
    fields: Vec<Field>,
    rival: Option<String>,
    is_said: bool,
}

/// An empty path stands for all of the object.
#[derive(Debug, Clone)]
struct Field {
    path: String,
    times: u32,
    last: Instant,
}

/// So often is once too often.
const LIMIT: u32 = 3;

/// More children of one parent are not watched; the parent is slowed down for these already.
const MAX_SUBJECTS: usize = 8;

impl Flapping {
    /// The type of the condition.
    pub const CONDITION: &'static str = "Flapping";

    /// Takes in that these fields were written again. Returns how often that was too often; 0 as
    /// long as it was not.
    pub fn again(
        &mut self,
        subject: &Subject,
        why: FlappingReason,
        paths: &[String],
        now: Instant,
    ) -> u32 {
        let Some(contested) = self.entry(subject, why) else { return 0 };
        let whole = [String::new()];
        for path in if paths.is_empty() { &whole } else { paths } {
            contested.count(path, now);
        }
        let is_touched = |field: &&Field| field.last == now;
        let times = contested.fields.iter().filter(is_touched).map(|field| field.times).max();
        times.unwrap_or_default().saturating_sub(LIMIT - 1)
    }

    /// Whether the next time will be once too often, so that it is time to ask who else writes.
    pub fn is_about_to_begin(&self, subject: &Subject, why: FlappingReason) -> bool {
        self.find(subject, why).is_some_and(|contested| {
            !contested.is_flapping()
                && contested.fields.iter().any(|field| field.times + 1 == LIMIT)
        })
    }

    /// How often something was too often, if the last time is not yet as long ago as `rest` says.
    pub fn rests(
        &self,
        (subject, why): (&Subject, FlappingReason),
        now: Instant,
        rest: impl Fn(u32) -> Duration,
    ) -> Option<u32> {
        let field = self.find(subject, why)?.flapping().max_by_key(|field| field.times)?;
        let times = field.times - (LIMIT - 1);
        (now.saturating_duration_since(field.last) < rest(times)).then_some(times)
    }

    /// Takes in who else writes.
    pub fn blame(&mut self, subject: &Subject, why: FlappingReason, rival: Option<String>) {
        if let Some(contested) = self.entry(subject, why) {
            contested.rival = rival;
        }
    }

    /// Forgets what was not written again within a window.
    pub fn forget_before(&mut self, now: Instant, window: Duration) {
        for contested in &mut self.0 {
            contested.fields.retain(|field| now.saturating_duration_since(field.last) < window);
        }
        self.0.retain(|contested| !contested.fields.is_empty());
    }

    /// In what time nothing will be flapping any more if nothing is written again; `None` when
    /// nothing is.
    pub fn calms_in(&self, now: Instant, window: Duration) -> Option<Duration> {
        let fields = self.0.iter().flat_map(Contested::flapping);
        let last = fields.map(|field| field.last).max()?;
        Some(window.saturating_sub(now.saturating_duration_since(last)))
    }

    /// What there is to say; `None` when nothing is flapping.
    pub fn condition(&self) -> Option<Condition> {
        let flapping = || self.0.iter().filter(|contested| contested.is_flapping());
        let why = flapping().map(|contested| contested.why).min()?;
        let messages: Vec<_> = flapping().map(Contested::message).collect();
        Some(Condition::new(Self::CONDITION, true, why.name(), messages.join("; ")))
    }

    /// What has begun since the last time: reasons and messages.
    pub fn take_news(&mut self) -> Vec<(FlappingReason, String)> {
        let is_new = |it: &&mut Contested| it.is_flapping() && !it.is_said;
        let news = self.0.iter_mut().filter(is_new).map(|contested| {
            contested.is_said = true;
            (contested.why, contested.message())
        });
        news.collect()
    }

    fn find(&self, subject: &Subject, why: FlappingReason) -> Option<&Contested> {
        self.0.iter().find(|it| it.subject == *subject && it.why == why)
    }

    /// The counters of a subject; `None` when there are too many.
    fn entry(&mut self, subject: &Subject, why: FlappingReason) -> Option<&mut Contested> {
        let known = self.0.iter().position(|it| it.subject == *subject && it.why == why);
        let at = match known {
            Some(at) => at,
            None if self.0.len() < MAX_SUBJECTS => {
                self.0.push(Contested::new(subject.clone(), why));
                self.0.len() - 1
            }
            None => return None,
        };
        self.0.get_mut(at)
    }
}

impl Contested {
    fn new(subject: Subject, why: FlappingReason) -> Self {
        Self { subject, why, fields: Vec::new(), rival: None, is_said: false }
    }

    fn count(&mut self, path: &str, now: Instant) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.path == path) {
            (field.times, field.last) = (field.times.saturating_add(1), now);
        } else if self.fields.len() < MAX_PATHS {
            self.fields.push(Field { path: path.to_owned(), times: 1, last: now });
        }
    }

    fn flapping(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.times >= LIMIT)
    }

    fn is_flapping(&self) -> bool {
        self.flapping().next().is_some()
    }

    fn message(&self) -> String {
        let paths: Vec<_> = self.flapping().map(|field| field.path.as_str()).collect();
        let what = match &self.subject {
            Subject::Child(id) => id.to_string(),
            Subject::Status => "the status".to_owned(),
            Subject::Finalizers => "the parent".to_owned(),
        };
        let rival = self.rival.as_ref();
        let rival = rival.map_or_else(|| "somebody".to_owned(), |rival| format!("`{rival}`"));
        let is_whole = paths == [""];
        let paths = paths.join(", ");
        match self.why {
            FlappingReason::UnstableHandler if is_whole => {
                format!("the handler wants {what} and then not, for the same request")
            }
            FlappingReason::UnstableHandler => {
                format!("{what}: the handler answers differently to the same request at {paths}")
            }
            _ if is_whole => format!("{what}: somebody deletes it again and again"),
            FlappingReason::FightingOverFields
            | FlappingReason::FightingOverStatus
            | FlappingReason::FightingOverFinalizer => {
                format!("{what}: {rival} changes {paths} back again and again")
            }
        }
    }
}

impl FlappingReason {
    /// One `CamelCase` word.
    pub fn name(self) -> &'static str {
        match self {
            Self::FightingOverFields => "FightingOverFields",
            Self::FightingOverStatus => "FightingOverStatus",
            Self::FightingOverFinalizer => "FightingOverFinalizer",
            Self::UnstableHandler => "UnstableHandler",
        }
    }
}

impl From<RewriteReason> for FlappingReason {
    fn from(why: RewriteReason) -> Self {
        match why {
            RewriteReason::Drift => Self::FightingOverFields,
            RewriteReason::OtherAnswer => Self::UnstableHandler,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, ObjectKey};

    const WINDOW: Duration = Duration::from_mins(1);
    const FIGHT: FlappingReason = FlappingReason::FightingOverFields;

    fn child(name: &str) -> Subject {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        Subject::Child(ChildId { ty, key: ObjectKey::namespaced("ns", name) })
    }

    /// How often it was too often, after each write: seconds after the start, and paths.
    fn counts(writes: &[(u64, &[&str])]) -> Vec<u32> {
        let (start, mut flapping) = (Instant::now(), Flapping::default());
        let write = |(second, paths): &(u64, &[&str])| {
            let now = start + Duration::from_secs(*second);
            let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
            flapping.forget_before(now, WINDOW);
            flapping.again(&child("c"), FIGHT, &paths, now)
        };
        writes.iter().map(write).collect()
    }

    #[test]
    fn the_same_field_three_times_within_the_window_is_too_often() {
        const A: &[&str] = &[".data.a"];
        const B: &[&str] = &[".data.b"];
        const BOTH: &[&str] = &[".data.b", ".data.a"];
        for (writes, expected) in [
            (vec![(0, A), (1, A), (2, A), (3, A)], vec![0, 0, 1, 2]),
            (vec![(0, A), (59, A), (118, A)], vec![0, 0, 1]),
            // As slow as nothing is to worry about.
            (vec![(0, A), (60, A), (120, A)], vec![0, 0, 0]),
            // Other fields are another matter.
            (vec![(0, A), (1, B), (2, A), (3, B)], vec![0, 0, 0, 0]),
            (vec![(0, A), (1, BOTH), (2, A), (3, B)], vec![0, 0, 1, 0]),
            // All of it.
            (vec![(0, &[][..]), (1, &[]), (2, &[])], vec![0, 0, 1]),
        ] {
            assert_eq!(counts(&writes), expected, "{writes:?}");
        }
    }

    #[test]
    fn what_is_too_often_rests_longer_each_time() {
        const FINALIZER: (&Subject, FlappingReason) =
            (&Subject::Finalizers, FlappingReason::FightingOverFinalizer);
        let (start, mut flapping) = (Instant::now(), Flapping::default());
        let rests = |flapping: &Flapping, after| {
            let now = start + Duration::from_secs(after);
            flapping.rests(FINALIZER, now, |times| Duration::from_secs(times.into()))
        };
        for expected in [(None, None), (None, None), (Some(1), None), (Some(2), Some(2))] {
            flapping.again(FINALIZER.0, FINALIZER.1, &[], start);
            assert_eq!((rests(&flapping, 0), rests(&flapping, 1)), expected);
        }
        assert_eq!(rests(&flapping, 2), None);
    }

    #[test]
    fn it_ends_a_window_after_the_last_time() {
        let (start, mut flapping) = (Instant::now(), Flapping::default());
        let at = |second| start + Duration::from_secs(second);
        for second in 0..3 {
            assert!(flapping.condition().is_none() && flapping.calms_in(start, WINDOW).is_none());
            flapping.again(&child("c"), FIGHT, &[".data.a".to_owned()], at(second));
        }
        assert_eq!(flapping.calms_in(at(12), WINDOW), Some(Duration::from_secs(50)));
        flapping.forget_before(at(61), WINDOW);
        assert!(flapping.condition().is_some());
        flapping.forget_before(at(62), WINDOW);
        assert!(flapping.condition().is_none() && flapping.0.is_empty());
    }

    #[test]
    fn it_is_said_who_does_what_to_which_fields_and_once() {
        let (now, mut flapping) = (Instant::now(), Flapping::default());
        for (subject, why, path, rival) in [
            (child("a"), FIGHT, ".data.x", Some("hpa")),
            (child("b"), FIGHT, "", None),
            (child("c"), FlappingReason::UnstableHandler, ".data.y", None),
            (Subject::Status, FlappingReason::FightingOverStatus, ".status.z", None),
        ] {
            for time in 1..=LIMIT {
                assert_eq!(flapping.is_about_to_begin(&subject, why), time == LIMIT, "{why:?}");
                if time == LIMIT {
                    flapping.blame(&subject, why, rival.map(str::to_owned));
                }
                flapping.again(&subject, why, &[path.to_owned()], now);
            }
        }
        let condition = flapping.condition().unwrap();
        assert_eq!((&*condition.ty, &*condition.reason), ("Flapping", "FightingOverFields"));
        let expected = "ConfigMap.v1 ns/a: `hpa` changes .data.x back again and again; \
            ConfigMap.v1 ns/b: somebody deletes it again and again; \
            ConfigMap.v1 ns/c: the handler answers differently to the same request at .data.y; \
            the status: somebody changes .status.z back again and again";
        assert_eq!(condition.message, expected);
        assert_eq!(flapping.take_news().len(), 4);
        assert!(flapping.take_news().is_empty());
    }

    #[test]
    fn a_thousand_children_and_fields_do_not_fill_the_memory() {
        let (now, mut flapping) = (Instant::now(), Flapping::default());
        for number in 0..1000 {
            flapping.again(&child(&number.to_string()), FIGHT, &[], now);
            flapping.again(&child("0"), FIGHT, &[format!(".data.n{number}")], now);
        }
        assert_eq!((flapping.0.len(), flapping.0[0].fields.len()), (MAX_SUBJECTS, MAX_PATHS));
    }
}
