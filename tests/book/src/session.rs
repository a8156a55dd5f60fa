//! What the commands of a page find: a folder, programs, variables, and a network of their own.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::shell::Shell;

/// `cargo run` is what cargo has built for the tests; all else is cargo.
const CARGO: &str = r#"#!/bin/sh
if [ "$1" != run ]; then
    exec "$REAL_CARGO" "$@"
fi
shift
program=$CARGO_RUN
while [ $# -gt 0 ]; do
    case $1 in
    -q | --quiet | --release) shift ;;
    -p) program=$CARGO_BINARIES/$2; shift 2 ;;
    --bin) program=$CARGO_BINARIES/$2; shift 2 ;;
    --example) program=$CARGO_BINARIES/examples/$2; shift 2 ;;
    --) shift; break ;;
    *) break ;;
    esac
done
exec "$program" "$@"
"#;

/// What tests may have in their environment, and readers do not.
const NOT_OF_A_READER: [&str; 5] =
    ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "RUST_BACKTRACE", "RUST_LOG", "UPDATE_EXPECT"];

/// Only the commands of the session see this network: its ports are free, and it leads nowhere.
const OWN_NETWORK: [&str; 5] = ["unshare", "--map-root-user", "--net", "sh", "-c"];
const LOOPBACK: &str = r#"ip link set lo up && exec "$@""#;

/// Describes a session.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    programs: Vec<PathBuf>,
    variables: Vec<(String, PathBuf)>,
    is_alone: bool,
}

impl Session {
    /// A session in an empty folder, in which it makes `home`, `programs` and `work`, where the commands run.
    pub fn in_folder(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder, programs: Vec::new(), variables: Vec::new(), is_alone: false }
    }

    /// The commands find this program by its name.
    #[must_use]
    pub fn with_program(mut self, path: &Path) -> Self {
        self.programs.push(path.to_owned());
        self
    }

    /// `cargo run` starts this program, `cargo run -p NAME` the one beside it.
    #[must_use]
    pub fn with_cargo_run(self, program: &Path) -> Self {
        let binaries = program.parent().unwrap_or(Path::new(".")).to_owned();
        self.with_variable("CARGO_RUN", program).with_variable("CARGO_BINARIES", &binaries)
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &Path) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The commands have loopback for themselves, so that port 8080 is free. See [`can_be_alone`].
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// The folder in which the commands run.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Makes the folders and starts the shell.
    pub fn start(&self) -> io::Result<Shell> {
        let programs = self.folder.join("programs");
        for folder in [&programs, &self.folder.join("home"), &self.work()] {
            fs::create_dir_all(folder)?;
        }
        fs::write(programs.join("cargo"), CARGO)?;
        fs::set_permissions(programs.join("cargo"), fs::Permissions::from_mode(0o755))?;
        for program in &self.programs {
            symlink(program, programs.join(program.file_name().unwrap_or_default()))?;
        }
        Shell::start(self.bash(&programs), &self.work())
    }

    fn bash(&self, programs: &Path) -> Command {
        let mut command = if self.is_alone { own_network(&["bash"]) } else { Command::new("bash") };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut found = programs.as_os_str().to_owned();
        found.push(":");
        found.push(&path);
        for name in NOT_OF_A_READER {
            command.env_remove(name);
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, std::env::var_os(name).unwrap_or(home.join(folder).into()));
        }
        let cargo = home.join(".cargo/bin/cargo").into_os_string();
        command.env("REAL_CARGO", std::env::var_os("CARGO").unwrap_or(cargo));
        command.env("PATH", found).env("HOME", self.folder.join("home"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Whether this system allows a network of one's own. No package can provide that.
pub fn can_be_alone() -> bool {
    let status = own_network(&["true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn own_network(program: &[&str]) -> Command {
    let mut command = Command::new(OWN_NETWORK[0]);
    // The tests may run in the background, where Ctrl-C is ignored: servers would inherit that.
    let with_signals = ["sh", "env", "--default-signal=INT"];
    command.args(&OWN_NETWORK[1..]).arg(LOOPBACK).args(with_signals).args(program);
    command
}
