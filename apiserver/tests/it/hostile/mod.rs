//! Hostile input against the program in 512 MiB of address space: it neither dies nor hangs, and answers
//! afterwards.
//!
//! What an attacker with a token can send is a table of attempts. Nothing in it judges an answer: the attempts only
//! have to leave a server that lives and answers.

mod bodies;
mod connections;
mod leaks;
mod process;
mod requests;
mod texts;

use std::time::{Duration, Instant};

use self::process::Process;

/// The collection that most attempts are about.
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// How many attempts there are at least.
const ATTEMPTS: usize = 150;

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long hostile"]
fn the_program_survives_hostile_input_in_512_mebibytes() {
    let mut process = Process::start();
    let attempts = attempts();
    assert!(attempts.len() >= ATTEMPTS, "{}", attempts.len());
    println!("figure: {} attempts", attempts.len());
    let mut slowest = (Duration::ZERO, String::new());
    for attempt in attempts {
        let begun = Instant::now();
        (attempt.act)(&process);
        process.assert_alive(&attempt.name);
        slowest = slowest.max((begun.elapsed(), attempt.name));
    }
    println!("figure: {} s by the slowest, {}", slowest.0.as_secs(), slowest.1);
    let made =
        process.send("POST", CONFIG_MAPS, "application/json", br#"{"metadata":{"name":"after"}}"#);
    assert!(made.starts_with("HTTP/1.1 201"), "{made}");
}

/// One attempt.
struct Attempt {
    name: String,
    act: Box<dyn Fn(&Process)>,
}

impl Attempt {
    fn new(name: impl Into<String>, act: impl Fn(&Process) + 'static) -> Self {
        Self { name: name.into(), act: Box::new(act) }
    }
}

/// All attempts, in their order.
fn attempts() -> Vec<Attempt> {
    [bodies::attempts(), texts::attempts(), requests::attempts(), connections::attempts()]
        .into_iter()
        .flatten()
        .collect()
}
