//! Generated definitions, each changed in one place, and generated objects of theirs: what the servers say of them.
//!
//! ```text
//!  seed ─ generate ─> definition ─ mutation ─> dry run ─┬─> embedded server ─┐
//!                                                       └─> kube-apiserver ──┴─ compare code, fields, texts
//! ```
//!
//! What kube-apiserver v1.36.2 said of the definitions of one seed is recorded in `answers.jsonl`, and compared without
//! it. Where this server says something else stands in `differences.txt`, which may only shrink: `UPDATE_EXPECT=1`
//! rewrites it. To record the answers again:
//! `cargo test -p operetta-apiserver --test it -- --ignored recorded_again`

mod generate;
mod mutation;
mod objects;
mod refusal;
mod score;

use std::{fmt::Write, fs, path::PathBuf};

use kube::Client;
use mutation::Mutation;
use operetta_apiserver::Server;
use refusal::{Refusal, ask};
use score::Score;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{common::control_plane, differential::random::Random};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The seed of the recorded definitions.
const RECORDED: u64 = 1;
/// The seeds of definitions that are created, and of those that are changed.
const CREATED: std::ops::RangeInclusive<u64> = 1..=3;
const CHANGED: std::ops::RangeInclusive<u64> = 11..=12;
/// The seeds of the types of generated objects, and how many there are of each.
const TYPES: std::ops::RangeInclusive<u64> = 21..=40;
const OBJECTS: usize = 100;
/// How many of a hundred refusals must name the same fields.
const PERCENT: usize = 99;
/// The same of objects: those inside of others are refused when they are read there, and when they are validated here.
const PERCENT_OF_OBJECTS: usize = 86;

async fn create(client: &Client, mutation: &Mutation, seed: u64) -> Refusal {
    let definition = mutation.applied_to(&generate::definition(seed), seed);
    ask(client, "POST", &format!("{PATH}?dryRun=All"), &definition).await
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long differential"]
async fn generated_definitions_are_refused_as_by_the_real_server() {
    let (control_plane, server) = (control_plane::own().await, Server::start());
    let (ours, theirs) = (server.client(), control_plane.client().unwrap());
    let mut score = Score::default();
    for seed in CREATED {
        for mutation in Mutation::all() {
            let answers =
                tokio::join!(create(&ours, &mutation, seed), create(&theirs, &mutation, seed));
            score.add(&format!("create {seed} {}", mutation.name()), answers);
        }
    }
    for seed in CHANGED {
        let place = define(&[&ours, &theirs], seed).await;
        for mutation in Mutation::all() {
            let change = |client| change(client, &place, &mutation, seed);
            let answers = tokio::join!(change(&ours), change(&theirs));
            score.add(&format!("update {seed} {}", mutation.name()), answers);
        }
    }
    score.is_at_least("definitions", PERCENT);
}

/// Creates the definition of a seed, and waits until it is served.
async fn define(clients: &[&Client], seed: u64) -> String {
    let definition = generate::definition(seed);
    let place = format!("{PATH}/{}", definition["metadata"]["name"].as_str().unwrap());
    for client in clients {
        let created = ask(client, "POST", PATH, &definition).await;
        assert_eq!(created.code, 201, "{created:?}");
        while !is_established(&ask(client, "GET", &place, &Value::Null).await.body) {
            tokio::task::yield_now().await;
        }
    }
    place
}

fn is_established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|it| it["type"] == "Established" && it["status"] == "True")
}

async fn change(client: &Client, place: &str, mutation: &Mutation, seed: u64) -> Refusal {
    let live = ask(client, "GET", place, &Value::Null).await.body;
    let changed = mutation.applied_to(&live, seed);
    ask(client, "PUT", &format!("{place}?dryRun=All"), &changed).await
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long differential"]
async fn generated_objects_are_refused_as_by_the_real_server() {
    let (control_plane, server) = (control_plane::own().await, Server::start());
    let (ours, theirs) = (server.client(), control_plane.client().unwrap());
    let mut score = Score::default();
    for seed in TYPES {
        define(&[&ours, &theirs], seed).await;
        let definition = generate::definition(seed);
        let path = objects::path(&definition);
        let mut random = Random::new(seed);
        for _ in 0..OBJECTS {
            let object = objects::wrong(&mut random, &definition);
            let ask = |client| ask(client, "POST", &path, &object);
            let answers = tokio::join!(ask(&ours), ask(&theirs));
            score.add(&format!("object {seed} {object}"), answers);
        }
    }
    score.is_at_least("objects", PERCENT_OF_OBJECTS);
}

/// A definition of the recorded seed, and the answer to it.
#[derive(Deserialize, Serialize)]
struct Recorded {
    #[serde(flatten)]
    mutation: Mutation,
    #[serde(flatten)]
    answer: Refusal,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/differential/definitions").join(name)
}

#[operetta_harness::test]
async fn recorded_definitions_are_refused_as_they_were_by_the_real_server() {
    let server = Server::start();
    let (client, mut different) = (server.client(), String::new());
    for line in fs::read_to_string(file("answers.jsonl")).unwrap().lines() {
        let Recorded { mutation, answer } = serde_json::from_str(line).unwrap();
        let given = create(&client, &mutation, RECORDED).await.without_body();
        if given != answer {
            eprintln!("{}\n  there {answer}\n  here  {given}", mutation.name());
            writeln!(different, "{}", mutation.name()).unwrap();
        }
    }
    let known = file("differences.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&known, &different).unwrap();
    }
    assert!(different == fs::read_to_string(known).unwrap(), "differences.txt is not what differs");
}

#[operetta_harness::test]
#[ignore = "writes the recorded answers; needs the real control plane"]
async fn answers_to_definitions_are_recorded_again() {
    let control_plane = control_plane::own().await;
    let (client, mut text) = (control_plane.client().unwrap(), String::new());
    for mutation in Mutation::all() {
        let answer = create(&client, &mutation, RECORDED).await.without_body();
        if answer.code == 0 {
            continue;
        }
        let recorded = Recorded { mutation, answer };
        writeln!(text, "{}", serde_json::to_string(&recorded).unwrap()).unwrap();
    }
    fs::write(file("answers.jsonl"), text).unwrap();
}
