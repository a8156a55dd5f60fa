//! Parameters and options of requests: each request of `requests.txt` is answered as `answers.txt` says.
//!
//! The answers are those of the real control plane. Where its programs are there, they are compared with it again, and
//! `UPDATE_EXPECT=1` records them anew. Requests that are still answered differently stand in `open.txt`, which may only
//! shrink: `UPDATE_EXPECT=1` rewrites it, `OPERETTA_OPTIONS_SHOW=1` prints both answers of those.

mod mask;
mod script;
mod send;

pub(crate) use mask::masked;

use std::{collections::BTreeSet, fs, path::Path};

use operetta_apiserver::{Server, User};

use crate::common::{control_plane, open_cases::open_cases};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/options_alike");
/// Why the requests that differ do so.
const WHY: &str =
    "# The real server prints what a patch did not touch in the order of the fields in Go.";
/// Separates the answers of the file.
const RULE: &str = "\n\n=== ";

#[operetta_harness::test]
async fn options_are_answered_as_by_the_real_server() {
    let server = Server::builder().rbac().without_controller_manager().start();
    let admin = User::new("admin").group("system:masters");
    let ours = send::all(&server.client_of(admin)).await;
    let theirs = recorded();
    let differing: Vec<_> = ours.iter().zip(&theirs).filter(|(a, b)| a.1 != b.1).collect();
    println!(
        "figure: {} of {} requests are answered the same",
        ours.len() - differing.len(),
        ours.len()
    );
    assert_eq!(ours.len(), theirs.len(), "answers.txt is not of these requests");
    if std::env::var_os("OPERETTA_OPTIONS_SHOW").is_some() {
        for (a, b) in &differing {
            show(a, b);
        }
    }
    let file = Path::new(FOLDER).join("open.txt");
    let now: BTreeSet<&str> = differing.iter().map(|((line, _), _)| line.as_str()).collect();
    let Some(open) = open_cases(&file, WHY, &now) else { return };
    let new: Vec<_> =
        differing.iter().filter(|((line, _), _)| !open.contains(line.as_str())).collect();
    for (a, b) in &new {
        show(a, b);
    }
    assert!(new.is_empty(), "{} requests are answered differently", new.len());
}

#[operetta_harness::test]
async fn the_recorded_answers_are_those_of_the_real_server() {
    let control_plane = control_plane::own().await;
    let theirs = send::all(&control_plane.client().unwrap()).await;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let text: Vec<_> =
            theirs.iter().map(|(line, answer)| format!("{RULE}{line}\n{answer}")).collect();
        let text = text.concat().trim_start().to_owned() + "\n";
        fs::write(Path::new(FOLDER).join("answers.txt"), text).unwrap();
        return;
    }
    for (now, before) in theirs.iter().zip(&recorded()) {
        assert_eq!(now, before, "UPDATE_EXPECT=1 records the answers anew");
    }
}

/// The answers of the file, with their requests.
fn recorded() -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(FOLDER).join("answers.txt")).unwrap();
    let text = format!("\n\n{}", text.trim_end());
    let parts = text.split(RULE).skip(1);
    parts
        .map(|part| part.split_once('\n').unwrap())
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect()
}

fn show((line, ours): &(String, String), (_, theirs): &(String, String)) {
    println!("{line}\n--- embedded\n{ours}\n--- real\n{theirs}\n");
}
