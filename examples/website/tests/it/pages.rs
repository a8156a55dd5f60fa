//! The walkthrough as a reader goes through it: its pages in their order, in one shell.
//!
//! ```text
//! UPDATE_EXPECT=1 cargo test -p website pages
//! ```
//!
//! `cargo run` is the program that the reader has after the chapter.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use operetta_book::{Page, Session, Shell, can_be_alone, check_code};
use operetta_controlplane::Binaries;
use operetta_harness::{ignore, ignore_outside_ci};

use crate::{chapters::program, cluster::or_ignore};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PAGES: &str = "docs/walkthrough";

/// The pages, and the chapter whose program `cargo run` is in each.
const STEPS: [(&str, &str); 11] = [
    ("first", "first"),
    ("children", "children"),
    ("status", "status"),
    ("order", "order"),
    ("finalizers", "finalizers"),
    ("related", "related"),
    ("async", "asynchronous"),
    ("testing", "asynchronous"),
    ("in-a-cluster", "in_a_cluster"),
    ("what-happens", "in_a_cluster"),
    ("versions", "versions"),
];

#[operetta_harness::test]
fn every_command_of_the_walkthrough_prints_what_its_page_shows() {
    if !can_be_alone() {
        ignore("this system allows no network of one's own: unshare --map-root-user --net");
    }
    ["python3", "jq", "curl"].into_iter().for_each(needs);
    let folder = new_folder();
    let mut shell = session(&folder).start().unwrap();
    let played = STEPS.map(|(name, chapter)| plays(&page(name), &program(chapter), &mut shell));
    drop(shell);
    fs::remove_dir_all(folder).unwrap();
    let differences: Vec<_> = played.into_iter().filter_map(Result::err).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[operetta_harness::test]
fn every_page_is_a_step_and_shows_its_code() {
    let files = fs::read_dir(Path::new(REPOSITORY).join(PAGES)).unwrap();
    let mut pages: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    pages.sort();
    let mut steps: Vec<_> = STEPS.iter().map(|(name, _)| page(name).path().to_owned()).collect();
    steps.sort();
    assert_eq!(pages, steps);
    for (name, _) in STEPS {
        check_code(Path::new(REPOSITORY), &page(name)).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn page(name: &str) -> Page {
    let file = Path::new(REPOSITORY).join(PAGES).join(name).with_extension("md");
    Page::read(&file).unwrap()
}

fn plays(page: &Page, program: &Path, shell: &mut Shell) -> Result<(), String> {
    shell.run(&format!("export CARGO_RUN='{}'", program.display()))?;
    page.play(shell)
}

fn session(folder: &Path) -> Session {
    let (server, binaries) = (built("operetta-apiserver"), or_ignore(Binaries::find()));
    Session::in_folder(folder)
        .with_cargo_run(&server)
        .with_program(&server)
        .with_program(&binaries.program("kubectl"))
        .with_program(&binaries.program("helm"))
        // Logs without colours, as a page shows them.
        .with_variable("NO_COLOR", Path::new("1"))
        // What a program prints comes at once, as in a terminal.
        .with_variable("PYTHONUNBUFFERED", Path::new("1"))
        .alone()
}

/// A program of another package, beside the folder of this one.
fn built(name: &str) -> PathBuf {
    let here = env::current_exe().unwrap();
    let program = here.ancestors().nth(2).unwrap().join(name);
    assert!(program.is_file(), "build the whole workspace: {} is missing", program.display());
    program
}

fn needs(program: &str) {
    if let Err(missing) = Command::new(program).arg("--version").output() {
        ignore_outside_ci(format!("the walkthrough needs {program}: {missing}"));
    }
}

/// Outside of the repository: `cargo new` within a workspace would add the package to it.
fn new_folder() -> PathBuf {
    let name = format!("operetta-walkthrough-{}", std::process::id());
    let folder = env::temp_dir().join(name);
    // The files of an earlier process with the same id.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
