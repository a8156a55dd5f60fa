//! Counters of repeated writes, and the messages about them. Their number is limited; idle ones are
//! replaced.

use std::time::{Duration, Instant};

use super::{Calm, FlappingReason, Subject};
use crate::{diff::path::MAX_PATHS, object::quoted};

#[derive(Debug, Clone)]
pub(super) struct Counters {
    pub(super) subject: Subject,
    pub(super) why: FlappingReason,
    pub(super) fields: Vec<Field>,
    pub(super) rival: Option<String>,
    pub(super) is_announced: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) path: String,
    pub(super) times: u32,
    pub(super) last: Instant,
}

/// A field that is written this often is flapping.
pub(super) const LIMIT: u32 = 3;

/// How many subjects of one parent are counted at a time.
pub(super) const MAX_SUBJECTS: usize = 16;

/// Without room for a further counter, a counter that was idle for so long is replaced. A single repair
/// must not hide a fight.
const IDLE: Duration = Duration::from_secs(10);

impl Counters {
    pub(super) fn new(subject: Subject, why: FlappingReason) -> Self {
        Self { subject, why, fields: Vec::new(), rival: None, is_announced: false }
    }

    pub(super) fn count(&mut self, path: &str, now: Instant) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.path == path) {
            (field.times, field.last) = (field.times.saturating_add(1), now);
        } else if make_room(&mut self.fields, MAX_PATHS, now).is_some() {
            self.fields.push(Field { path: path.to_owned(), times: 1, last: now });
        }
    }

    /// Forgets the fields whose last write no longer counts.
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
            Subject::Finalizers | Subject::Decoration => "the parent".to_owned(),
        };
        let rival = self.rival.as_ref();
        let rival = rival.map_or_else(|| "another client".to_owned(), |rival| quoted(rival));
        let is_whole = paths == [""];
        let paths = paths.join(", ");
        match self.why {
            FlappingReason::UnstableHandler if matches!(self.subject, Subject::Children(_)) => {
                format!(
                    "the handler returns {what} with another name each time for the same request"
                )
            }
            FlappingReason::UnstableHandler if is_whole => {
                format!("the handler returns {what} only sometimes for the same request")
            }
            FlappingReason::UnstableHandler => {
                format!(
                    "{what}: the handler returns different values for the same request at {paths}"
                )
            }
            _ if is_whole => format!("{what}: another client deletes it repeatedly"),
            FlappingReason::FightingOverFields
            | FlappingReason::FightingOverStatus
            | FlappingReason::FightingOverFinalizer => {
                format!("{what}: {rival} reverts {paths} repeatedly")
            }
        }
    }
}

impl Field {
    /// How long its last write still counts.
    pub(super) fn calms_in(&self, now: Instant, calm: Calm) -> Duration {
        let too_often = self.times.saturating_sub(LIMIT - 1);
        calm.after(too_often).saturating_sub(now.saturating_duration_since(self.last))
    }

    fn is_flapping(&self) -> bool {
        self.times >= LIMIT
    }
}

/// A counter that may be replaced by a newer one.
pub(super) trait Counted {
    /// When it was last written; `None` while it is flapping.
    fn idle_since(&self) -> Option<Instant>;
}

impl Counted for Counters {
    fn idle_since(&self) -> Option<Instant> {
        let last = self.fields.iter().map(|field| field.last).max();
        last.filter(|_| !self.is_flapping())
    }
}

impl Counted for Field {
    fn idle_since(&self) -> Option<Instant> {
        (!self.is_flapping()).then_some(self.last)
    }
}

/// Makes room for one more; `None` if none of the others has been idle for long enough.
pub(super) fn make_room<T: Counted>(counted: &mut Vec<T>, most: usize, now: Instant) -> Option<()> {
    if counted.len() < most {
        return Some(());
    }
    let since = |at: &usize| counted[*at].idle_since();
    let (since, at) = (0..counted.len()).filter_map(|at| Some((since(&at)?, at))).min()?;
    (now.saturating_duration_since(since) >= IDLE).then(|| drop(counted.remove(at)))
}
