//! One run, and the last ones of a parent.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, SystemTime},
};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cause, wire};
use crate::object::ResourceVersion;

/// The last runs of one parent. Cheap to clone: runs are shared.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The newest is last.
    runs: VecDeque<Arc<Run>>,
    recorded: u64,
}

/// One run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The how-manieth run of this parent in this process, from 1; set by [`History::record`].
    pub number: u64,
    /// When it started.
    #[serde(serialize_with = "wire::time")]
    #[schemars(with = "wire::Timestamp")]
    pub started: SystemTime,
    /// How long it took.
    #[serde(rename = "durationMilliseconds", serialize_with = "wire::millis")]
    #[schemars(with = "f64")]
    pub duration: Duration,
    /// Why it started.
    pub causes: Vec<Cause>,
    /// What came of it.
    pub outcome: Outcome,
    /// The writes of children that the server accepted.
    pub writes: Vec<WriteRecord>,
    /// How many children were as desired.
    pub unchanged: usize,
    /// Children that could not be written yet, each with the reason.
    pub waiting: Vec<String>,
    /// Whether the parent's status was written.
    pub wrote_status: bool,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "result")]
pub enum Outcome {
    /// Nothing was left to do.
    Synced,
    /// Children were written; the next run looks at the result.
    Wrote,
    /// Something has to happen elsewhere first.
    Waiting,
    /// The parent is paused: nothing was written.
    Paused,
    /// The parent was cleaned up and may go.
    Finalized,
    /// The parent was gone before the run began.
    Gone,
    /// It failed; children stay as they are unless `writes` names them.
    Failed {
        /// One word, as in the condition and the Event.
        reason: String,
        /// The error.
        message: String,
    },
}

/// One write of a child that the server accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WriteRecord {
    /// Type and key of the child.
    pub child: String,
    /// What was done.
    pub verb: Verb,
    /// The JSON paths that differed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What was repaired, when the child had been as desired before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Box<Drift>>,
}

/// What somebody else did to a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Drift {
    /// The field manager, where the server tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// The version at which the child was as desired.
    #[serde(serialize_with = "wire::text")]
    #[schemars(with = "String")]
    pub from: ResourceVersion,
    /// The version at which it was not any more; missing when it was gone.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::text_of_some")]
    #[schemars(with = "Option<String>")]
    pub to: Option<ResourceVersion>,
}

/// What was done to a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Verb {
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// It was there already, and became a child.
    Adopted,
    /// It was deleted.
    Deleted,
    /// It was written, and the server found nothing to change.
    Unchanged,
}

/// As many runs are kept. Ten thousand parents times this fit in some tens of megabytes.
const MAX_RUNS: usize = 10;

/// As many writes of one run are kept, and as many paths of one write.
const MAX_WRITES: usize = 50;
const MAX_PATHS: usize = 10;
const MAX_WAITING: usize = 10;

/// The longest text that is kept, in bytes.
const MAX_TEXT: usize = 1024;

// === History ===

impl History {
    /// Adds a run that has ended, gives it its number, and drops the oldest beyond the bound.
    pub fn record(&mut self, run: Run) -> Arc<Run> {
        self.recorded += 1;
        let run = Arc::new(Run { number: self.recorded, ..run.bounded() });
        if self.runs.len() == MAX_RUNS {
            self.runs.pop_front();
        }
        self.runs.push_back(run.clone());
        run
    }

    /// The kept runs, the newest first.
    pub fn newest_first(&self) -> impl ExactSizeIterator<Item = &Arc<Run>> {
        self.runs.iter().rev()
    }

    /// The newest run.
    pub fn last(&self) -> Option<&Arc<Run>> {
        self.runs.back()
    }

    /// How many runs were ever recorded.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }
}

// === Run ===

impl Run {
    /// A run that did nothing, to be filled in.
    pub fn new(started: SystemTime, duration: Duration, outcome: Outcome) -> Self {
        let (causes, writes, waiting) = (Vec::new(), Vec::new(), Vec::new());
        let (number, unchanged, wrote_status) = (0, 0, false);
        Self {
            number,
            started,
            duration,
            causes,
            outcome,
            writes,
            unchanged,
            waiting,
            wrote_status,
        }
    }

    /// Why it failed.
    pub fn error(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Failed { message, .. } => Some(message),
            Outcome::Synced
            | Outcome::Wrote
            | Outcome::Waiting
            | Outcome::Paused
            | Outcome::Finalized
            | Outcome::Gone => None,
        }
    }

    fn bounded(mut self) -> Self {
        if let Outcome::Failed { message, .. } = &mut self.outcome {
            shorten(message);
        }
        keep_first(&mut self.writes, MAX_WRITES);
        for write in &mut self.writes {
            keep_first(&mut write.paths, MAX_PATHS);
            write.paths.iter_mut().for_each(shorten);
            write.drift.iter_mut().filter_map(|drift| drift.manager.as_mut()).for_each(shorten);
        }
        keep_first(&mut self.waiting, MAX_WAITING);
        self.waiting.iter_mut().for_each(shorten);
        self.causes.shrink_to_fit();
        self
    }
}

impl Outcome {
    /// The outcome in one word, also as a metric label.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Wrote => "wrote",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Finalized => "finalized",
            Self::Gone => "gone",
            Self::Failed { .. } => "failed",
        }
    }
}

impl Verb {
    /// The verb as a metric label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Adopted => "adopted",
            Self::Deleted => "deleted",
            Self::Unchanged => "unchanged",
        }
    }
}

fn keep_first<T>(items: &mut Vec<T>, count: usize) {
    items.truncate(count);
    items.shrink_to_fit();
}

fn shorten(text: &mut String) {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(outcome: Outcome) -> Run {
        Run::new(SystemTime::UNIX_EPOCH, Duration::from_micros(1500), outcome)
    }

    #[test]
    fn only_the_last_runs_are_kept_and_numbers_go_on() {
        let mut history = History::default();
        for _ in 0..25 {
            history.record(run(Outcome::Synced));
        }
        let numbers: Vec<u64> = history.newest_first().map(|run| run.number).collect();
        assert_eq!(numbers, (16..=25).rev().collect::<Vec<_>>());
        assert_eq!(history.recorded(), 25);
    }

    #[test]
    fn a_run_cannot_grow_without_bound() {
        let message = "ä".repeat(1_000_000);
        let mut huge = run(Outcome::Failed { reason: "HandlerFailed".to_owned(), message });
        let write = |number: usize| WriteRecord {
            child: number.to_string(),
            verb: Verb::Updated,
            paths: vec!["spec".to_owned(); 1000],
            drift: None,
        };
        huge.writes = (0..1000).map(write).collect();
        huge.waiting = vec!["x".repeat(100_000); 1000];
        let kept = History::default().record(huge);
        assert!(serde_json::to_string(&*kept).unwrap().len() < 32 * 1024);
        assert!(kept.error().is_some_and(|message| message.ends_with("ä…")));
    }

    #[test]
    fn a_run_reads_well_as_json() {
        let mut run = run(Outcome::Failed { reason: "Conflict".into(), message: "no".into() });
        run.causes = vec![Cause::Retry];
        let write =
            |verb, drift| WriteRecord { child: "Pod.v1 a".into(), verb, paths: vec![], drift };
        let version = ResourceVersion::new;
        let (from, to, manager) = (version("4"), Some(version("5")), Some("hpa".to_owned()));
        run.writes = vec![
            write(Verb::Created, None),
            write(Verb::Updated, Some(Box::new(Drift { manager, from, to }))),
        ];
        let expected = json!({
            "number": 0, "started": "1970-01-01T00:00:00.000Z", "durationMilliseconds": 1.5,
            "causes": [{
                "reason": "Retry",
                "message": "the run before failed and its backoff was over",
            }],
            "outcome": {"result": "Failed", "reason": "Conflict", "message": "no"},
            "writes": [
                {"child": "Pod.v1 a", "verb": "Created"},
                {
                    "child": "Pod.v1 a", "verb": "Updated",
                    "drift": {"manager": "hpa", "from": "4", "to": "5"},
                },
            ],
            "unchanged": 0, "waiting": [], "wroteStatus": false,
        });
        assert_eq!(serde_json::to_value(run).unwrap(), expected);
    }
}
