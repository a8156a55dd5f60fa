//! Three processes that share parents, of which each is killed, paused, terminated or cut off, again and again, while users
//! create, change and delete parents. The log of the server says who wrote when.
//!
//! `OPERETTA_CHAOS_FAULTS=300` sets how many faults the exhaustive test has, `OPERETTA_CHAOS_SEED=7` which ones.
//!
//! - `replica`: a process;
//! - `slow`: one that gets little of the processor;
//! - `load`: what users do;
//! - `faults`: what happens to the processes;
//! - `log`, `judge`: what the server received, and whether that keeps the promises.

mod faults;
mod judge;
mod judged;
mod load;
mod log;
mod replica;
mod slow;

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    time::{Duration, Instant},
};

use futures::future::join_all;
use rustix::process::Signal;

use faults::Place;
use load::{Load, delete_all, until_up_to_date};
pub(crate) use replica::run_if_asked;
use slow::Slowed;

/// With what the identities of replicas begin.
const REPLICA: &str = "replica-";
const GROUP: &str = "chaos";
const REPLICAS: usize = 3;

/// How long the exhaustive run is, and how long with a slow replica.
const FAULTS: usize = 300;
const FAULTS_BESIDE_A_SLOW_ONE: usize = 30;

/// How much happens.
struct Extent {
    faults: usize,
    /// How long a replica is stopped or cut off.
    longest: Duration,
    /// How many of the replicas get little of the processor, and suffer nothing else.
    slow: usize,
    seed: u64,
}

#[operetta_harness::test(server)]
async fn no_two_replicas_write_for_one_parent_and_no_change_is_lost_in_a_few_faults() {
    live(Extent { faults: 6, longest: Duration::from_secs(6), slow: 0, seed: seed() }).await;
}

#[operetta_harness::test(server)]
async fn no_two_replicas_write_for_one_parent_and_no_change_is_lost_beside_a_slow_one() {
    live(Extent { faults: 4, longest: Duration::from_secs(6), slow: 1, seed: seed() }).await;
}

#[operetta_harness::test(server)]
#[ignore = "exhaustive: .ci/long shards"]
async fn no_two_replicas_write_for_one_parent_and_no_change_is_lost_in_many_faults() {
    let faults = number("OPERETTA_CHAOS_FAULTS").map_or(FAULTS, |it| it.try_into().unwrap());
    live(Extent { faults, longest: Duration::from_secs(20), slow: 0, seed: seed() }).await;
}

#[operetta_harness::test(server)]
#[ignore = "exhaustive: .ci/long shards"]
async fn no_two_replicas_write_for_one_parent_and_no_change_is_lost_long_beside_a_slow_one() {
    let (faults, longest) = (FAULTS_BESIDE_A_SLOW_ONE, Duration::from_secs(20));
    live(Extent { faults, longest, slow: 1, seed: seed() }).await;
}

async fn live(Extent { faults, longest, slow, seed }: Extent) {
    println!("OPERETTA_CHAOS_SEED={seed}");
    let (world, log) = log::world().await;
    let places = (0..REPLICAS).map(|number| Place::new(&world, number, seed, longest));
    let mut places = join_all(places).await;
    let replicas = join_all(places.iter_mut().map(Place::start)).await;
    let load = Load::begin(&world, seed).await;
    let slowed: Vec<Slowed> =
        replicas[..slow].iter().map(|replica| Slowed::begin(replica.id())).collect();
    let each = |number| if number < slow { 0 } else { faults / (REPLICAS - slow) };
    let suffering = places.iter_mut().zip(replicas).enumerate();
    let suffering = suffering.map(|(number, (place, replica))| place.suffer(replica, each(number)));
    let replicas = join_all(suffering).await;
    drop(slowed);
    let mut parents = load.end().await;
    let ended = Instant::now();
    until_up_to_date(&world, &parents).await;
    let took = ended.elapsed().as_secs_f64();
    delete_all(&world, &mut parents).await;
    until_up_to_date(&world, &parents).await;
    join_all(replicas.into_iter().map(|replica| replica.end(Signal::TERM))).await;
    let writes = log.writes(&world).await;
    let extent = judge::extent(&writes, &parents);
    println!("figure: {faults} faults, {slow} slow, {extent}; all up to date after {took:.1} s");
    let mut wrong = judge::findings(&writes, &parents);
    wrong.extend(judge::miscounted(&writes, &parents));
    assert!(wrong.is_empty(), "OPERETTA_CHAOS_SEED={seed}: {wrong:#?}");
}

/// The seed that is asked for, or another one each time.
fn seed() -> u64 {
    number("OPERETTA_CHAOS_SEED").unwrap_or_else(|| RandomState::new().hash_one(()) >> 32)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}
