//! Asks the real control plane what `validation` compares with, and writes what it answers.
//!
//! Cases that are recorded already are asked again as they are. An object without cases gets all changes that
//! `change` knows.

mod change;

use std::{collections::BTreeMap, fmt::Write, fs};

use serde_json::Value;

use crate::{
    common::control_plane,
    validation::{
        case::{Base, Case, bases, cases, folder},
        world::{Answer, CLOSED, World},
    },
};

#[operetta_harness::test]
#[ignore = "writes the recorded answers; takes minutes and needs the real control plane"]
async fn the_answers_of_the_real_server_are_recorded() {
    let control_plane = control_plane::own().await;
    let world = World { client: control_plane.client().unwrap() };
    let bases = bases();
    record_creates(&world, &bases).await;
    record_updates(&world, &bases).await;
    record_statuses(&world, &bases).await;
}

async fn record_creates(world: &World, bases: &BTreeMap<String, Base>) {
    let mut asked = asked("answers.jsonl", bases, |base| change::of_new(&base.object));
    for case in &mut asked {
        answered(case, world.create(&bases[&case.of], case).await);
    }
    write("answers.jsonl", &asked);
}

async fn record_updates(world: &World, bases: &BTreeMap<String, Base>) {
    let mut recorded = Vec::new();
    let known = asked("updates.jsonl", bases, |base| change::of_live(&base.object));
    for (name, base) in bases {
        let Some(live) = world.live(base, "up").await else {
            eprintln!("{name} is not valid");
            continue;
        };
        for case in known.iter().filter(|case| case.of == *name && case.fits(&live)) {
            let mut case = case.clone();
            let answer = world.update(base, &live, &case).await;
            answered(&mut case, answer);
            recorded.push(case);
        }
        world.remove(base, &live).await;
    }
    write("updates.jsonl", &recorded);
}

async fn record_statuses(world: &World, bases: &BTreeMap<String, Base>) {
    let mut recorded = Vec::new();
    let with_status = |base: &Base| change::of_new(&serde_json::json!({ "status": base.status }));
    let known = asked("statuses.jsonl", bases, with_status);
    for (name, base) in bases.iter().filter(|(_, base)| !base.status.is_null()) {
        let Some(live) = world.live(base, "st").await else { continue };
        for case in known.iter().filter(|case| case.of == *name) {
            let mut case = case.clone();
            let answer = world.report(base, &live, &case).await;
            answered(&mut case, answer);
            recorded.push(case);
        }
        world.remove(base, &live).await;
    }
    write("statuses.jsonl", &recorded);
}

/// The cases of a file, and those of objects that have none there.
fn asked(
    file: &str,
    bases: &BTreeMap<String, Base>,
    changes: impl Fn(&Base) -> Vec<(String, Option<Value>)>,
) -> Vec<Case> {
    let mut asked = if folder().join(file).exists() { cases(file) } else { Vec::new() };
    asked.retain(|case| bases.contains_key(&case.of));
    for (name, base) in bases {
        if asked.iter().any(|case| case.of == *name) {
            continue;
        }
        let of = || name.clone();
        let case = |(at, is)| Case { of: of(), at, is, code: 0, says: String::new() };
        asked.extend(changes(base).into_iter().map(case));
    }
    asked
}

fn answered(case: &mut Case, (code, says): Answer) {
    case.code = code;
    case.says = says;
}

fn write(file: &str, cases: &[Case]) {
    let mut text = String::new();
    // The real server panics at a few of them.
    for case in cases.iter().filter(|case| (case.code, &case.says) != (CLOSED.0, &CLOSED.1)) {
        writeln!(text, "{}", serde_json::to_string(case).unwrap()).unwrap();
    }
    fs::write(folder().join(file), text).unwrap();
}
