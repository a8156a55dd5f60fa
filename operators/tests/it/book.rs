//! The commands of the documents: what they print is what the documents show.
//!
//! ```text
//! UPDATE_EXPECT=1 cargo test -p operators --test it book PAGE
//! ```
//!
//! A page with commands says in a comment what they find:
//!
//! | `<!-- session: .. -->` | |
//! |---|---|
//! | `empty` | nothing but this repository and the programs that it builds |
//! | `operators` | `operators` on the embedded server, its dashboard on port 8080, `$KUBECONFIG` |
//! | `cluster` | `$KUBECONFIG` of the cluster of the tests, which may be the real control plane |

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use operetta_book::{Page, Session, Shell, can_be_alone, check_code};
use operetta_controlplane::Binaries;
use operetta_harness::ignore;

use crate::cluster::{Cluster, new_folder, or_ignore};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const OPERATORS: &str = env!("CARGO_BIN_EXE_operators");

macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        /// The pages whose commands are run here.
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[operetta_harness::test]
            async fn $test() {
                plays($page).await;
            }
        )*
    };
}

pages! {
    readme: "README.md",
    command_line: "docs/command-line.md",
    config_propagation: "docs/operators/config-propagation.md",
    echo_server: "docs/operators/echo-server.md",
    temp_namespace: "docs/operators/temp-namespace.md",
    database: "docs/operators/database.md",
    deletions: "docs/deletions.md",
    deployment: "docs/deployment.md",
    deployment_scaler: "docs/operators/deployment-scaler.md",
    explain: "docs/explain.md",
    http_api: "docs/http-api.md",
    leader_election: "docs/leader-election.md",
    mcp: "docs/mcp.md",
    plan_mode: "docs/plan-mode.md",
    releases: "docs/releases.md",
    running: "docs/running.md",
    security: "docs/security.md",
    shards: "docs/shards.md",
    traces: "docs/traces.md",
    upgrading: "docs/upgrading.md",
}

#[operetta_harness::test]
fn every_page_with_commands_is_played() {
    let pages = all_pages().into_iter().map(|page| Page::read(&page).unwrap());
    let with_commands =
        pages.filter(|page| page.blocks().iter().any(operetta_book::Block::is_console));
    let names: Vec<_> = with_commands.map(|page| name_of(page.path())).collect();
    let missing: Vec<_> = names.iter().filter(|name| !PAGES.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[operetta_harness::test]
fn the_code_that_pages_show_is_compiled() {
    let (mut blocks, mut failures) = (0, Vec::new());
    for page in all_pages() {
        match check_code(Path::new(REPOSITORY), &Page::read(&page).unwrap()) {
            Ok(count) => blocks += count,
            Err(error) => failures.push(error.to_string()),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(blocks > 10, "{blocks} blocks were found");
}

/// Without the walkthrough, which has tests of its own.
fn all_pages() -> Vec<PathBuf> {
    let repository = Path::new(REPOSITORY);
    let folders = ["", "docs", "docs/from", "docs/operators", "apiserver", "roperator/docs"];
    folders.iter().flat_map(|folder| markdown(&repository.join(folder))).collect()
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|it| it == "md")).collect()
}

fn name_of(page: &Path) -> String {
    let name = page.strip_prefix(REPOSITORY).unwrap();
    name.to_str().unwrap().trim_start_matches('/').to_owned()
}

async fn plays(name: &'static str) {
    let page = Page::read(&Path::new(REPOSITORY).join(name)).unwrap();
    let binaries = or_ignore(Binaries::find());
    let programs = binaries.folder().to_owned();
    let played = match page.session() {
        Some("cluster") => {
            let cluster = Cluster::start().await;
            let kubeconfig = cluster.kubeconfig().to_owned();
            let played = move || {
                let session = session(&programs).with_variable("KUBECONFIG", &kubeconfig);
                page.play(&mut started(&session))
            };
            tokio::task::spawn_blocking(played).await.unwrap()
        }
        Some(session) => {
            let session = session.to_owned();
            tokio::task::spawn_blocking(move || alone(&session, &page, &programs)).await.unwrap()
        }
        None => panic!("{name} has commands and no `<!-- session: .. -->`"),
    };
    played.unwrap_or_else(|differences| panic!("{differences}"));
}

fn alone(name: &str, page: &Page, programs: &Path) -> Result<(), String> {
    if !can_be_alone() {
        ignore("this system allows no network of one's own: unshare --map-root-user --net");
    }
    let mut shell = started(&session(programs).alone());
    match name {
        "empty" => {}
        "operators" => start_operators(&mut shell)?,
        other => panic!("no session is named {other}"),
    }
    page.play(&mut shell)
}

fn session(programs: &Path) -> Session {
    let operators = Path::new(OPERATORS);
    let mut session = Session::in_folder(&new_folder()).with_cargo_run(operators);
    session = session.with_program(operators).with_program(&programs.join("kubectl"));
    session.with_program(&programs.join("helm"))
}

/// In a folder that looks like a clone of this repository.
fn started(session: &Session) -> Shell {
    let shell = session.start().unwrap();
    for entry in fs::read_dir(REPOSITORY).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "target" && entry.file_name() != ".git" {
            symlink(entry.path().canonicalize().unwrap(), session.work().join(entry.file_name()))
                .unwrap();
        }
    }
    shell
}

fn start_operators(shell: &mut Shell) -> Result<(), String> {
    shell.serve("operators", |printed| printed.contains("Ctrl-C stops them."))?;
    shell.run("export KUBECONFIG=$PWD/target/operetta/kubeconfig").map(drop)
}
