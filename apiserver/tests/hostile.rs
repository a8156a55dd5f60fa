//! Hostile input against the program in 512 MiB of address space: it neither dies nor hangs, and answers
//! afterwards.

mod attack;

use attack::{Process, attempts};

/// How many attempts there are at least.
const ATTEMPTS: usize = 150;

#[test]
fn the_program_survives_hostile_input_in_512_mebibytes() {
    let mut process = Process::start();
    let attempts = attempts();
    assert!(attempts.len() >= ATTEMPTS, "{}", attempts.len());
    for attempt in attempts {
        (attempt.act)(&process);
        process.assert_alive(&attempt.name);
    }
    let made = process.send(
        "POST",
        attack::CONFIG_MAPS,
        "application/json",
        br#"{"metadata":{"name":"after"}}"#,
    );
    assert!(made.starts_with("HTTP/1.1 201"), "{made}");
}
