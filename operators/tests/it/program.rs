//! The binary `operators` as a child process that ends with the test.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use operetta_harness::ignore;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::cluster::new_folder;

/// How long a start or an exit may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// How many lines of the log a failed test prints: the last ones.
const SHOWN: usize = 40;

/// The beginning of the last line that is printed when all is ready.
const END_OF_ANNOUNCEMENT: &str = "Ctrl-C stops them.";

const PROGRAM: &str = env!("CARGO_BIN_EXE_operators");

/// A free port for the web endpoint.
const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// Only the program sees the mounts.
const OWN_MOUNTS: [&str; 2] = ["--map-root-user", "--mount"];

/// An empty folder in place of the system's.
const OWN_RUN: &str = "mount -t tmpfs none /run";

/// Copies the account to its path in a Pod, and executes the program.
const IN_POD: &str = r#"
    account=/run/secrets/kubernetes.io/serviceaccount
    mkdir -p "$account"
    cp ca.crt token namespace "$account"
    exec "$0" "$@"
"#;

pub(crate) struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    log: PathBuf,
}

impl Program {
    /// Starts the program on a free port for the web endpoint.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_in(&new_folder(), flags)
    }

    /// Starts it with this working directory.
    pub(crate) fn start_in(folder: &Path, flags: &[&str]) -> Self {
        let mut command = command(&LISTEN);
        command.args(flags);
        Self::spawn(command, folder)
    }

    /// Starts it with this address of the web endpoint.
    pub(crate) fn start_at(address: &str, flags: &[&str]) -> Self {
        let mut command = command(&["--listen", address]);
        command.args(flags);
        Self::spawn(command, &new_folder())
    }

    /// Starts it on a host of this name.
    pub(crate) fn start_on(host: &str, flags: &[&str]) -> Self {
        let mut command = command(&LISTEN);
        command.env("HOSTNAME", host).args(flags);
        Self::spawn(command, &new_folder())
    }

    /// Starts it with no other flags than these.
    pub(crate) fn start_exactly(flags: &[String]) -> Self {
        let mut command = command(&[]);
        command.args(flags);
        Self::spawn(command, &new_folder())
    }

    /// Starts it with the environment of a Pod: the address of the API server, and the files of an
    /// account. The test [`needs_own_mounts`].
    pub(crate) fn start_in_pod(account: &Path, (host, port): (&str, &str)) -> Self {
        let mut pod = isolated(Command::new("unshare"));
        let script = format!("{OWN_RUN}\n{IN_POD}");
        pod.args(OWN_MOUNTS).args(["sh", "-ec", &script, PROGRAM]).args(LISTEN);
        pod.args(["--cluster", "in-cluster"]);
        pod.envs([("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", port)]);
        // JSON has no announcement.
        pod.env("OPERETTA_LOG_FORMAT", "text");
        Self::spawn(pod, account)
    }

    fn spawn(mut command: Command, folder: &Path) -> Self {
        let log = folder.join("log");
        let mut child = command
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, log }
    }

    /// Waits until it announces that it is ready, and returns the announcement.
    pub(crate) async fn ready(&mut self) -> String {
        let announcement = async {
            let mut printed = String::new();
            while let Some(line) = self.lines.next_line().await.unwrap() {
                printed += &line;
                printed += "\n";
                if line.starts_with(END_OF_ANNOUNCEMENT) {
                    return printed;
                }
            }
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            panic!("it exited before it was ready: {log}");
        };
        timeout(DEADLINE, announcement).await.expect("ready in time")
    }

    /// Its log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Kills it.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Sends a signal.
    pub(crate) async fn signal(&self, signal: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status().await.unwrap();
        assert!(sent.success());
    }

    /// Sends a signal and returns the exit code.
    pub(crate) async fn stop(mut self, signal: &str) -> Option<i32> {
        self.signal(signal).await;
        timeout(DEADLINE, self.child.wait()).await.expect("an end in time").unwrap().code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            let hidden = log.lines().count().saturating_sub(SHOWN);
            eprintln!("the log of the program, after {hidden} lines:");
            log.lines().skip(hidden).for_each(|line| eprintln!("{line}"));
        }
    }
}

/// Ignores the test if the system does not allow mounts of one's own. No package can provide that,
/// so such a machine may ignore it with `CI` set, too.
pub(crate) async fn needs_own_mounts() {
    let mut probe = Command::new("unshare");
    let probe = probe.args(OWN_MOUNTS).args(["sh", "-ec", OWN_RUN]).stderr(Stdio::null());
    let probed = probe.status().await;
    if !probed.as_ref().is_ok_and(ExitStatus::success) {
        ignore(format!("unshare {} and {OWN_RUN}: {probed:?}", OWN_MOUNTS.join(" ")));
    }
}

/// Runs it until it exits: exit code, standard output, standard error.
pub(crate) async fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    output_of(command(arguments)).await
}

/// The same with these environment variables.
pub(crate) async fn output_with(
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> (Option<i32>, String, String) {
    let mut command = command(arguments);
    command.envs(variables.iter().copied());
    output_of(command).await
}

/// The same where `$KUBECONFIG` names a file.
pub(crate) async fn output_beside(
    kubeconfig: &Path,
    arguments: &[&str],
) -> (Option<i32>, String, String) {
    let mut command = command(arguments);
    command.env("KUBECONFIG", kubeconfig);
    output_of(command).await
}

async fn output_of(mut command: Command) -> (Option<i32>, String, String) {
    let running = command.current_dir(new_folder()).output();
    let output = timeout(DEADLINE, running).await.expect("an end in time").unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A command without the cluster or kubeconfig of the user who runs the tests.
fn command(arguments: &[&str]) -> Command {
    let mut command = isolated(Command::new(PROGRAM));
    command.args(arguments);
    command
}

fn isolated(mut command: Command) -> Command {
    for variable in ["KUBERNETES_SERVICE_HOST", "KUBECONFIG", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}
