//! Random operations on the embedded server and on the real control plane: every answer, and every
//! event of a watch, must be the same.
//!
//! ```text
//!  seed ─ generate ─> Operation ─┬─> embedded server ─> answer, events ─ mask ─┐
//!                                └─> kube-apiserver ──> answer, events ─ mask ─┴─ compare ─ known? ─ shrink
//! ```
//!
//! `OPERETTA_DIFFERENTIAL_SEED` and `OPERETTA_DIFFERENTIAL_OPERATIONS` choose another run. What differs is printed with
//! the shortest sequence of operations that shows it. Classes of differences that are not mended yet stand in
//! `open.txt`, which may only shrink: `UPDATE_EXPECT=1` rewrites it. Without the programs of the real control plane the
//! test is ignored.

mod answer;
mod custom_types;
mod definitions;
mod difference;
mod generate;
mod known;
mod mutation;
mod mutations;
mod open;
mod operation;
mod random;
mod servers;
mod shrink;
mod types;
mod watch;
mod without_object;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use difference::Difference;
use futures::{StreamExt, stream};
use operation::Sequence;
use servers::Pair;

/// How many operations a run of `cargo test` performs.
const OPERATIONS: usize = 10_000;
/// Operations on one namespace: what is left of earlier ones makes later ones richer, and a difference harder to
/// understand.
const SEQUENCE: usize = 100;
/// So many sequences at one time; each has its own namespace.
const AT_ONCE: usize = 4;
const SEED: u64 = 1;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long differential"]
async fn random_operations_are_answered_as_by_the_real_server() {
    let pair = Pair::start().await;
    let chosen =
        (setting("OPERETTA_DIFFERENTIAL_SEED"), setting("OPERETTA_DIFFERENTIAL_OPERATIONS"));
    let seed = chosen.0.unwrap_or(SEED);
    let operations = chosen.1.map_or(OPERATIONS, |it| usize::try_from(it).unwrap());
    let mut found = Found::default();
    let mut runs = stream::iter(0..operations.div_ceil(SEQUENCE) as u64)
        .map(|number| {
            let sequence = generate::sequence(seed + number, SEQUENCE);
            let pair = &pair;
            async move { (pair.run(&sequence).await, sequence) }
        })
        .buffer_unordered(AT_ONCE);
    while let Some((differences, sequence)) = runs.next().await {
        found.add(&sequence, differences);
    }
    println!("figure: {operations} operations, {} differences that are known", found.known);
    // Another run shows all.
    if (seed, operations) == (SEED, OPERATIONS) {
        found.without(&open::classes(&found));
    }
    let report = found.report(&pair).await;
    assert!(found.classes.is_empty(), "{report}");
}

/// The differences of all sequences, one example of each class.
#[derive(Default)]
struct Found {
    classes: BTreeMap<String, Example>,
    known: usize,
}

struct Example {
    count: usize,
    sequence: Sequence,
    difference: Difference,
}

/// So many classes are shrunk: each takes many operations.
const SHRUNK: usize = 20;

impl Found {
    fn add(&mut self, sequence: &Sequence, differences: Vec<Difference>) {
        for difference in differences {
            if known::reason(&difference).is_some() {
                self.known += 1;
                continue;
            }
            let example = self.classes.entry(difference.class()).or_insert_with(|| {
                let mut sequence = sequence.clone();
                sequence.operations.truncate(difference.at + 1);
                Example { count: 0, sequence, difference }
            });
            example.count += 1;
        }
    }

    fn without(&mut self, open: &BTreeSet<String>) {
        self.classes.retain(|class, _| !open.contains(class));
    }

    async fn report(&self, pair: &Pair) -> String {
        let mut text = String::new();
        let total: usize = self.classes.values().map(|example| example.count).sum();
        let classes = self.classes.len();
        writeln!(text, "{total} unexplained differences of {classes} classes").unwrap();
        let mut by_count: Vec<_> = self.classes.iter().collect();
        by_count.sort_by_key(|(_, example)| std::cmp::Reverse(example.count));
        for (at, (class, example)) in by_count.into_iter().enumerate() {
            writeln!(text, "\n{}x {class}", example.count).unwrap();
            let shrunk =
                if at < SHRUNK { shrink::shortest(pair, class, example).await } else { None };
            let at = example.difference.at;
            let unshrunk = (&example.sequence.operations[at..], &example.difference);
            let (sequence, difference) = shrunk
                .as_ref()
                .map_or(unshrunk, |(sequence, difference)| (&sequence.operations[..], difference));
            for operation in sequence {
                writeln!(text, "  {operation}").unwrap();
            }
            writeln!(text, "{difference}").unwrap();
        }
        text
    }
}
