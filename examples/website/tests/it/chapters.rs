//! The programs that a reader has after each chapter: this test program is each of them under its name.

#![allow(
    dead_code,
    unused_imports,
    reason = "of the tests of a reader, which another program runs"
)]

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::ExitCode,
};

macro_rules! chapters {
    ($($name:ident,)*) => {
        $(mod $name {
            include!(concat!(env!("CARGO_MANIFEST_DIR"), "/steps/", stringify!($name), ".rs"));

            pub(super) fn start() -> std::process::ExitCode {
                std::process::Termination::report(main())
            }
        })*

        /// Runs a program of the walkthrough; none if that is not the name of one.
        fn run(name: &str) -> Option<ExitCode> {
            match name {
                $(stringify!($name) => Some($name::start()),)*
                _ => None,
            }
        }
    };
}

chapters! { first, children, status, order, finalizers, related, asynchronous, in_a_cluster, versions, }

/// Is the program by whose name this one was started; none if it was started for its tests.
pub(crate) fn run_by_name() -> Option<ExitCode> {
    let started_as = env::args_os().next().map(PathBuf::from)?;
    run(started_as.file_name()?.to_str()?)
}

/// A file that starts the program of a chapter.
pub(crate) fn program(chapter: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chapters");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join(chapter);
    // That of an earlier build may be another program.
    let _ = fs::remove_file(&program);
    symlink(env::current_exe().unwrap(), &program).unwrap();
    program
}
