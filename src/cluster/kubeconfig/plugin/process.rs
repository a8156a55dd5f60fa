//! The process of a plugin: how long it may take, and its end. The process is killed with all its children when it takes
//! too long, prints too much, or nobody waits for it any longer.
//!
//! For that it is a process group of its own. An interactive plugin is not, because only the foreground group may read from
//! the terminal: such a plugin is killed alone.

use std::{
    io, mem,
    process::ExitStatus,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
    task::spawn_blocking,
    time::timeout,
};

/// How many bytes it may print. A token and a chain of certificates are a few thousand.
const LONGEST: u64 = 1 << 20;

/// What it printed on standard output, and how it ended.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) printed: Vec<u8>,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("cannot be run: {0}")]
    NotStarted(io::Error),
    #[error("cannot be waited for: {0}")]
    Unread(io::Error),
    #[error("has not ended within {} s, and was killed", .0.as_secs_f64())]
    Late(Duration),
    #[error("printed more than {LONGEST} bytes, and was killed")]
    TooLong,
    #[error("was killed: this process ends")]
    Over,
}

/// What runs.
#[derive(Debug, Clone, Copy)]
enum Target {
    Group(Pid),
    Process(Pid),
}

/// The process that runs, if one does.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<Lifecycle>);

#[derive(Debug, Default)]
enum Lifecycle {
    #[default]
    Idle,
    Running(Target),
    /// None is started any more.
    Over,
}

/// A process that is killed when this is dropped, with all that it has started.
struct Started {
    child: Child,
    /// Nothing once it has ended by itself.
    target: Option<Target>,
}

/// Nothing runs any more when it is dropped.
struct Guard<'a>(&'a Running);

/// Runs it, as a group of its own unless it asks somebody.
pub(super) async fn run(
    mut command: Command,
    is_interactive: bool,
    patience: Duration,
    running: &Running,
) -> Result<Output, Failed> {
    if !is_interactive {
        command.process_group(0);
    }
    let target = if is_interactive { Target::Process } else { Target::Group };
    match timeout(patience, ended(command, target, running)).await {
        Ok(output) => output,
        Err(_) => Err(Failed::Late(patience)),
    }
}

async fn ended(
    mut command: Command,
    target: fn(Pid) -> Target,
    running: &Running,
) -> Result<Output, Failed> {
    command.kill_on_drop(true);
    // The program may be on a file system that hangs. Its caller may be gone before it has started.
    let spawned = spawn_blocking(move || Started::by(&mut command, target)).await;
    let mut started = spawned.map_err(io::Error::other).flatten().map_err(Failed::NotStarted)?;
    let guard = running.begin(&started)?;
    let mut printed = Vec::new();
    if let Some(stdout) = started.child.stdout.take() {
        stdout.take(LONGEST + 1).read_to_end(&mut printed).await.map_err(Failed::Unread)?;
    }
    if printed.len() as u64 > LONGEST {
        return Err(Failed::TooLong);
    }
    let status = started.child.wait().await.map_err(Failed::Unread)?;
    guard.end()?;
    // Background processes of the plugin live on.
    started.target = None;
    Ok(Output { status, printed })
}

impl Started {
    fn by(command: &mut Command, target: fn(Pid) -> Target) -> io::Result<Self> {
        let child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, target: id.map(target) })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            target.kill();
        }
    }
}

impl Running {
    /// Kills what runs, and lets nothing start any more.
    pub(super) fn end(&self) {
        if let Lifecycle::Running(target) = self.replace(Lifecycle::Over) {
            target.kill();
        }
    }

    fn begin(&self, started: &Started) -> Result<Guard<'_>, Failed> {
        match self.replace(started.target.map_or(Lifecycle::Idle, Lifecycle::Running)) {
            Lifecycle::Over => Err(Failed::Over),
            Lifecycle::Idle | Lifecycle::Running(_) => Ok(Guard(self)),
        }
    }

    /// Returns the earlier state. The last state never changes.
    fn replace(&self, next: Lifecycle) -> Lifecycle {
        let mut state = self.state();
        match *state {
            Lifecycle::Over => Lifecycle::Over,
            Lifecycle::Idle | Lifecycle::Running(_) => mem::replace(&mut *state, next),
        }
    }

    fn state(&self) -> MutexGuard<'_, Lifecycle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target {
    fn kill(self) {
        // It may have ended by itself.
        let _ = match self {
            Self::Group(group) => kill_process_group(group, Signal::KILL),
            Self::Process(process) => kill_process(process, Signal::KILL),
        };
    }
}

impl Guard<'_> {
    /// It has ended by itself.
    fn end(self) -> Result<(), Failed> {
        match self.0.replace(Lifecycle::Idle) {
            Lifecycle::Over => Err(Failed::Over),
            Lifecycle::Idle | Lifecycle::Running(_) => Ok(()),
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.replace(Lifecycle::Idle);
    }
}
