//! Objects that are wrong in one place, and what the real server said of them.
//!
//! ```text
//! objects.json (a valid object of each kind) ─ change (one place) ─> Case ─┬─ answers.jsonl    create it
//!                                                                          ├─ updates.jsonl    change it
//!                                                                          └─ statuses.jsonl   report it
//! ```
//!
//! Each case has the answer of kube-apiserver v1.37.2 to a dry run. Where this server answers otherwise stands in
//! `differences.txt`, `update_differences.txt` and `status_differences.txt`, which may only shrink: `UPDATE_EXPECT=1`
//! rewrites them. A run prints both answers.
//!
//! To record the answers again, of another version or with other objects:
//! `cargo test -p operetta-apiserver --test it -- --ignored recording::`

pub(crate) mod case;
pub(crate) mod world;

use std::fs;

use case::{Case, bases, cases, folder, text};
use operetta_apiserver::Server;
use world::World;

/// The cases in which this server answers otherwise.
#[derive(Default)]
struct Differences {
    asked: usize,
    names: Vec<String>,
    details: Vec<String>,
}

impl Differences {
    fn compare(&mut self, case: &Case, (code, says): &(u16, String)) {
        self.asked += 1;
        if (*code, says) == (case.code, &case.says) {
            return;
        }
        let name = case.name();
        let (there, said) = (case.code, &case.says);
        self.details.push(format!("{name}\n  there {there} {said}\n  here  {code} {says}"));
        self.names.push(name + "\n");
    }

    fn are_those_of(&self, file: &str) {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(folder().join(file), self.names.concat()).unwrap();
        }
        eprintln!("{file}:\n{}", self.details.join("\n"));
        println!("figure: {} of {} answers differ", self.names.len(), self.asked);
        assert!(self.names.concat() == text(file), "{file} is not what differs");
    }
}

fn world() -> (Server, World) {
    let server = Server::start();
    let client = server.client_as("test/1.0");
    (server, World { client })
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long validation"]
async fn wrong_objects_are_refused_as_the_real_server_refuses_them() {
    let (_server, world) = world();
    let (bases, mut differences) = (bases(), Differences::default());
    for case in cases("answers.jsonl") {
        let answer = world.create(&bases[&case.of], &case).await;
        differences.compare(&case, &answer);
    }
    differences.are_those_of("differences.txt");
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long validation"]
async fn wrong_changes_are_refused_as_the_real_server_refuses_them() {
    let (_server, world) = world();
    let (cases, mut differences) = (cases("updates.jsonl"), Differences::default());
    for (name, base) in bases() {
        let of_base: Vec<&Case> = cases.iter().filter(|case| case.of == name).collect();
        let Some(live) = world.live(&base, "up").await else { continue };
        for case in of_base {
            differences.compare(case, &world.update(&base, &live, case).await);
        }
        world.remove(&base, &live).await;
    }
    differences.are_those_of("update_differences.txt");
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long validation"]
async fn wrong_statuses_are_refused_as_the_real_server_refuses_them() {
    let (_server, world) = world();
    let (cases, mut differences) = (cases("statuses.jsonl"), Differences::default());
    for (name, base) in bases().iter().filter(|(_, base)| !base.status.is_null()) {
        let Some(live) = world.live(base, "st").await else { continue };
        for case in cases.iter().filter(|case| case.of == *name) {
            differences.compare(case, &world.report(base, &live, case).await);
        }
        world.remove(base, &live).await;
    }
    differences.are_those_of("status_differences.txt");
}
