//! kubectl on both servers: the same commands, the same output.
//!
//! The transcripts in `tests/testdata/kubectl` are written by the real server:
//!
//! ```text
//! UPDATE_EXPECT=1 OPERETTA_TEST_CLUSTER=controlplane cargo test -p operators --test it kubectl
//! ```
//!
//! kubectl is the one that the control-plane rig builds, never one of the machine.

use std::{fs, path::Path, process::Command};

use operators::crds;
use operetta::supervisor::install_crds;
use operetta_controlplane::Binaries;

use crate::{
    cluster::{Cluster, new_folder, or_ignore},
    definitions,
    transcript::Transcript,
};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Which server writes a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    Real,
    Embedded,
}

async fn matches_the_real_server(name: &str) {
    let cluster = Cluster::start().await;
    play(name, &cluster, Author::Real).await;
}

async fn play(name: &str, cluster: &Cluster, author: Author) {
    let binaries = or_ignore(Binaries::find());
    let client = cluster.client().await;
    definitions::remove(&client).await;
    install_crds(&client, &crds().unwrap()).await.unwrap();
    let file = Path::new(REPOSITORY).join("tests/testdata/kubectl").join(format!("{name}.txt"));
    let expected = fs::read_to_string(&file).unwrap();
    let (transcript, shell) =
        (Transcript::read(&expected), shell(binaries.folder(), cluster.kubeconfig()));
    let seen = tokio::task::spawn_blocking(move || transcript.play(&shell)).await.unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_none() {
        assert_same(&expected, &seen);
    } else if is(cluster, author) {
        fs::write(file, seen).unwrap();
    } else {
        panic!("only this server may write the transcript: {author:?}");
    }
}

fn is(cluster: &Cluster, author: Author) -> bool {
    matches!(cluster, Cluster::Real(..)) == (author == Author::Real)
}

/// Creates shells with the rig's kubectl, which do not modify the user's files.
fn shell(programs: &Path, kubeconfig: &Path) -> impl Fn() -> Command + use<> {
    let home = new_folder();
    // A copy, for commands that change it.
    fs::copy(kubeconfig, home.join("config")).unwrap();
    let mut path = programs.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    move || {
        let mut shell = Command::new("sh");
        shell.current_dir(REPOSITORY).env("PATH", &path).env("HOME", &home);
        shell.env("KUBECONFIG", home.join("config")).env("KUBECACHEDIR", home.join("cache"));
        shell
    }
}

fn assert_same(expected: &str, seen: &str) {
    let (expected, seen) = (Transcript::read(expected), Transcript::read(seen));
    let differences: Vec<String> = expected.differences(&seen).collect();
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

#[operetta_harness::test(server)]
async fn a_first_visit() {
    matches_the_real_server("first-visit").await;
}

#[operetta_harness::test(server)]
async fn custom_resources() {
    matches_the_real_server("custom-resources").await;
}

#[operetta_harness::test(server)]
async fn built_in_resources() {
    matches_the_real_server("built-in-resources").await;
}

#[operetta_harness::test(server)]
async fn refusals() {
    matches_the_real_server("refusals").await;
}

#[operetta_harness::test(server)]
async fn the_embedded_server_reports_unsupported_features() {
    let cluster = Cluster::start().await;
    if is(&cluster, Author::Embedded) {
        play("not-yet", &cluster, Author::Embedded).await;
    }
}
