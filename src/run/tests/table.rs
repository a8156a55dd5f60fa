//! The table of `machine` against what the scripts reach: each row is reached, each pair that is reached has a row, and
//! each other pair ends the reconcile with an internal error that names both.

use std::{cell::RefCell, collections::BTreeSet, fs, path::Path, time::Duration};

use super::{driver::timed_out, refusals, scripts::play, world::named};
use crate::{
    journal::{Fact, Failure},
    plan::Exceeded,
    related::FoundRelated,
    run::{Aim, Effect, Event, Machine, Now, Request, Snapshot, machine::name},
};

type Pair = (String, String);

thread_local! {
    static WATCHED: RefCell<Watched> = RefCell::default();
}

/// What is watched in all machines of this thread.
#[derive(Default)]
struct Watched {
    reached: BTreeSet<Pair>,
    /// The stage at which another event comes, once.
    replaced: Option<(String, Event)>,
    /// What that did.
    done: Option<String>,
}

/// Steps a machine, and records the pair.
pub(super) fn step(
    machine: &mut Machine,
    event: Event,
    snapshot: Snapshot,
    now: Now,
) -> Vec<Effect> {
    let stage = machine.stage();
    if let Some(wrong) = replaced(&stage) {
        return disturb(machine, wrong, snapshot, now);
    }
    WATCHED.with_borrow_mut(|it| it.reached.insert((stage, name(&event))));
    machine.step(event, snapshot, now)
}

/// Steps a machine that has finished, if that is to be done.
pub(super) fn step_after_end(machine: &mut Machine, snapshot: Snapshot, now: Now) {
    if let Some(wrong) = replaced(&machine.stage()) {
        disturb(machine, wrong, snapshot, now);
    }
}

fn replaced(stage: &str) -> Option<Event> {
    let is_here = |(at, _): &mut (String, Event)| at == stage;
    WATCHED.with_borrow_mut(|it| it.replaced.take_if(is_here)).map(|(_, wrong)| wrong)
}

fn disturb(machine: &mut Machine, wrong: Event, snapshot: Snapshot, now: Now) -> Vec<Effect> {
    let effects = machine.step(wrong, snapshot, now);
    WATCHED.with_borrow_mut(|it| it.done = Some(shown(machine, &effects)));
    effects
}

/// The last fact, and the effects, of which there is one.
fn shown(machine: &Machine, effects: &[Effect]) -> String {
    let failure = match machine.facts().last() {
        Some(Fact::Failed(failure @ Failure::ImpossibleStep { .. })) => failure.to_string(),
        other => format!("{other:?}"),
    };
    format!("{failure}; {effects:?}, {}", machine.stage())
}

/// The pairs of the table in the comment of `machine`.
fn documented() -> BTreeSet<Pair> {
    let rows = include_str!("../machine.rs").lines().filter_map(|line| {
        let mut cells = line.strip_prefix("//! | `")?.splitn(3, "` | `");
        let (stage, rest) = (cells.next()?, cells.next()?);
        let event = rest.split('`').next()?;
        Some((stage.to_owned(), event.to_owned()))
    });
    rows.collect()
}

/// Each event once.
fn events() -> Vec<Event> {
    let lost = refusals::lost(&Request::Read(named("parent")));
    vec![
        Event::Started(Aim::Reconcile),
        Event::HandlerReturned(Err(timed_out(Duration::ZERO))),
        Event::HandlerTimeout(Duration::ZERO),
        Event::Answered(1_000, Err(lost)),
        Event::Reserved(Err(Exceeded::Reconcile { allowed: 0 })),
        Event::RelatedRead(FoundRelated::Pending("a list".to_owned())),
        Event::Resumed,
        Event::SchemaRead(Ok(None)),
    ]
}

fn scripts() -> Vec<String> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/run"));
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    scripts.sort();
    scripts.iter().map(|script| fs::read_to_string(script).unwrap()).collect()
}

/// What a script reaches.
fn reached(script: &str) -> BTreeSet<Pair> {
    WATCHED.with_borrow_mut(|it| it.reached.clear());
    play(script);
    WATCHED.with_borrow(|it| it.reached.clone())
}

#[test]
fn the_scripts_reach_every_pair_of_the_table_and_no_other() {
    let all: BTreeSet<Pair> = scripts().iter().flat_map(|script| reached(script)).collect();
    let documented = documented();
    assert!(documented.len() > 20, "{documented:?}");
    let missing: Vec<_> = documented.difference(&all).collect();
    let undocumented: Vec<_> = all.difference(&documented).collect();
    assert!(missing.is_empty() && undocumented.is_empty(), "{missing:?} {undocumented:?}");
}

#[test]
fn every_other_pair_ends_the_reconcile_with_an_error_that_names_both() {
    let documented = documented();
    let mut walked = BTreeSet::new();
    for script in scripts() {
        let stages: BTreeSet<_> = reached(&script).into_iter().map(|(stage, _)| stage).collect();
        for stage in stages.iter().chain([&"Finished".to_owned()]) {
            if !walked.insert(stage.clone()) {
                continue;
            }
            for event in events() {
                let pair = (stage.clone(), name(&event));
                // Many requests are in flight there, each with its number.
                let is_unknown = pair.1 == "Answered" && stage == "Writing";
                if !documented.contains(&pair) || is_unknown {
                    disturbed(&script, pair, event);
                }
            }
        }
    }
    assert_eq!(walked.len(), 1 + documented.iter().map(|it| &it.0).collect::<BTreeSet<_>>().len());
}

fn disturbed(script: &str, (stage, event): Pair, wrong: Event) {
    WATCHED.with_borrow_mut(|it| it.replaced = Some((stage.clone(), wrong)));
    play(script);
    let done = WATCHED.with_borrow_mut(|it| it.done.take()).unwrap_or_default();
    let failure = Failure::ImpossibleStep { stage, event };
    assert_eq!(done, format!("{failure}; [Finished], Finished"));
}
