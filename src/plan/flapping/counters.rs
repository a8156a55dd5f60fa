//! Counters of what is written again, and what is said of them: a few, and those that have been quiet
//! give way.

use std::time::{Duration, Instant};

use super::{Calm, FlappingReason, Subject};
use crate::{diff::path::MAX_PATHS, object::quoted};

/// One thing that is written again, for one reason.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    pub(super) subject: Subject,
    pub(super) why: FlappingReason,
    pub(super) fields: Vec<Field>,
    pub(super) rival: Option<String>,
    pub(super) is_said: bool,
}

/// An empty path stands for all of the object.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) path: String,
    pub(super) times: u32,
    pub(super) last: Instant,
}

/// So often is once too often.
pub(super) const LIMIT: u32 = 3;

/// So much of one parent is watched at a time.
pub(super) const MAX_SUBJECTS: usize = 16;

/// What was not written again for so long gives way to what is, where there is too much to watch: a
/// single repair does not hide a fight.
const QUIET: Duration = Duration::from_secs(10);

impl Counters {
    pub(super) fn new(subject: Subject, why: FlappingReason) -> Self {
        Self { subject, why, fields: Vec::new(), rival: None, is_said: false }
    }

    pub(super) fn count(&mut self, path: &str, now: Instant) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.path == path) {
            (field.times, field.last) = (field.times.saturating_add(1), now);
        } else if make_room(&mut self.fields, MAX_PATHS, now).is_some() {
            self.fields.push(Field { path: path.to_owned(), times: 1, last: now });
        }
    }

    /// Forgets what was not written again for as long as it counts.
    pub(super) fn forget_before(&mut self, now: Instant, calm: Calm) {
        self.fields.retain(|field| !field.calms_in(now, calm).is_zero());
    }

    pub(super) fn flapping(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.is_flapping())
    }

    pub(super) fn is_flapping(&self) -> bool {
        self.flapping().next().is_some()
    }

    pub(super) fn message(&self) -> String {
        let paths: Vec<_> = self.flapping().map(|field| field.path.as_str()).collect();
        let what = match &self.subject {
            Subject::Child(id) => id.to_string(),
            Subject::Children(ty) => format!("a child of the type {ty}"),
            Subject::Status => "the status".to_owned(),
            Subject::Finalizers => "the parent".to_owned(),
        };
        let rival = self.rival.as_ref();
        let rival = rival.map_or_else(|| "somebody".to_owned(), |rival| quoted(rival));
        let is_whole = paths == [""];
        let paths = paths.join(", ");
        match self.why {
            FlappingReason::UnstableHandler if matches!(self.subject, Subject::Children(_)) => {
                format!("the handler wants {what} of another name each time, for the same request")
            }
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

impl Field {
    /// In what time it does not count any more, unless it is written again.
    pub(super) fn calms_in(&self, now: Instant, calm: Calm) -> Duration {
        let too_often = self.times.saturating_sub(LIMIT - 1);
        calm.after(too_often).saturating_sub(now.saturating_duration_since(self.last))
    }

    fn is_flapping(&self) -> bool {
        self.times >= LIMIT
    }
}

/// What is counted, and gives way to what is written more often.
pub(super) trait Counted {
    /// When it was last written again; `None` while that is too often.
    fn quiet_since(&self) -> Option<Instant>;
}

impl Counted for Counters {
    fn quiet_since(&self) -> Option<Instant> {
        let last = self.fields.iter().map(|field| field.last).max();
        last.filter(|_| !self.is_flapping())
    }
}

impl Counted for Field {
    fn quiet_since(&self) -> Option<Instant> {
        (!self.is_flapping()).then_some(self.last)
    }
}

/// Makes room for one more; `None` where all that there is is written again just now.
pub(super) fn make_room<T: Counted>(counted: &mut Vec<T>, most: usize, now: Instant) -> Option<()> {
    if counted.len() < most {
        return Some(());
    }
    let since = |at: &usize| counted[*at].quiet_since();
    let (since, at) = (0..counted.len()).filter_map(|at| Some((since(&at)?, at))).min()?;
    (now.saturating_duration_since(since) >= QUIET).then(|| drop(counted.remove(at)))
}
