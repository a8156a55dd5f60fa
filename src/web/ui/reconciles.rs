//! The last reconciles of a parent: a line each, equal ones in a row as one, details on opening.

use std::{sync::Arc, time::SystemTime};

use super::{
    parts::{Mark, Prose, counted},
    time::{Moment, span, took},
};
use crate::history::{Decision, History, Outcome, Reconcile};

/// Reconciles with the same result.
pub(super) struct Row {
    /// The newest of them.
    pub(super) number: u64,
    pub(super) mark: Mark,
    pub(super) started: Moment,
    /// What it did and why it began, in a few words.
    pub(super) summary: String,
    /// How often, and within what time: `x9, 46 s`.
    pub(super) repeated: Option<String>,
    pub(super) details: Details,
}

/// The newest of equal reconciles.
pub(super) struct Details {
    pub(super) took: String,
    pub(super) causes: Vec<String>,
    pub(super) error: Option<(&'static str, Prose)>,
    pub(super) decisions: Vec<Decided>,
    pub(super) message: Option<Prose>,
    pub(super) paused: Option<Arc<str>>,
    pub(super) rest: String,
    pub(super) steps: Vec<(&'static str, String)>,
}

pub(super) struct Decided {
    pub(super) mark: Mark,
    pub(super) child: String,
    pub(super) why: Option<Prose>,
    pub(super) paths: Vec<String>,
    pub(super) drift: Option<String>,
}

/// The newest first.
pub(super) fn rows(history: &History, now: SystemTime) -> Vec<Row> {
    let all: Vec<&Arc<Reconcile>> = history.newest_first().collect();
    let mut rows = Vec::new();
    let mut rest = &all[..];
    while let Some(newest) = rest.first() {
        let alike = rest.iter().take_while(|it| newest.has_result_of(it)).count().max(1);
        let (group, older) = rest.split_at(alike);
        let before = older.first().map_or(group[alike - 1].number - 1, |it| it.number);
        rows.push(Row::new(group, newest.number - before, now));
        rest = older;
    }
    rows
}

impl Row {
    /// Those between two that are kept had the result of the newer one, so the numbers count them.
    fn new(group: &[&Arc<Reconcile>], times: u64, now: SystemTime) -> Self {
        let (newest, oldest) = (group[0], group[group.len() - 1]);
        let within = newest.started.duration_since(oldest.started).unwrap_or_default();
        let repeated = (times > 1).then(|| match within.as_secs() {
            0 => format!("x{times}"),
            _ => format!("x{times}, {}", span(within)),
        });
        Self {
            number: newest.number,
            mark: (&newest.outcome).into(),
            started: Moment::past(newest.started, now),
            summary: summary(newest),
            repeated,
            details: newest.as_ref().into(),
        }
    }
}

/// What changed, and the first cause.
fn summary(reconcile: &Reconcile) -> String {
    let mut writes = reconcile.writes();
    let changed = match (writes.next(), writes.count()) {
        (None, _) if reconcile.wrote_status => Some("status written".to_owned()),
        (None, _) => None,
        (Some(Decision { child, what, paths, .. }), 0) => {
            let path = paths.first().map(|path| format!(" {path}")).unwrap_or_default();
            Some(format!("{} {child}{path}", Mark::from(*what).word()))
        }
        (Some(Decision { child, what, .. }), more) => {
            Some(format!("{} {child} and {more} more", Mark::from(*what).word()))
        }
    };
    let cause = reconcile.causes.first().map(ToString::to_string);
    [changed, cause].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

impl From<&Reconcile> for Details {
    fn from(reconcile: &Reconcile) -> Self {
        Self {
            took: took(reconcile.duration),
            causes: reconcile.causes.iter().map(ToString::to_string).collect(),
            error: error(reconcile),
            decisions: reconcile.decisions.iter().map(Decided::new).collect(),
            message: message(reconcile),
            paused: reconcile.paused.clone(),
            rest: rest(reconcile),
            steps: reconcile.steps.taken().map(|(step, time)| (step.name(), took(time))).collect(),
        }
    }
}

fn error(reconcile: &Reconcile) -> Option<(&'static str, Prose)> {
    match &reconcile.outcome {
        Outcome::Failed { reason, message } => Some((reason.name(), (**message).into())),
        _ => None,
    }
}

/// The message, unless a decision about a child has one.
fn message(reconcile: &Reconcile) -> Option<Prose> {
    let is_shown = reconcile.decisions.iter().any(|decision| decision.why.is_some());
    reconcile.message.as_deref().filter(|_| !is_shown).map(|message| message.to_owned().into())
}

fn rest(reconcile: &Reconcile) -> String {
    let unchanged = (reconcile.unchanged > 0)
        .then(|| counted(reconcile.unchanged, "child up to date", "children up to date"));
    let status = reconcile.wrote_status.then(|| "Its status was written".to_owned());
    unchanged
        .into_iter()
        .chain(status)
        .flat_map(|it| [" ".to_owned(), it, ".".to_owned()])
        .collect()
}

impl Decided {
    fn new(decision: &Decision) -> Self {
        let drift = decision.drift.as_ref().map(|drift| {
            let who = drift.manager.as_deref().unwrap_or("An unknown manager");
            match &drift.to {
                Some(to) => format!("{who} had changed it from version {} to {to}.", drift.from),
                None => format!("{who} had removed it after version {}.", drift.from),
            }
        });
        let (child, paths) = (decision.child.to_string(), decision.paths.clone());
        let why = decision.why.as_deref().map(|why| why.to_owned().into());
        Self { mark: decision.what.into(), child, why, paths, drift }
    }
}
