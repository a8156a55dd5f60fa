//! A replica that gets little of the processor: it is stopped and continued by turns, as a cgroup with a small quota does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

const RUNS: Duration = Duration::from_millis(10);
const RESTS: Duration = Duration::from_millis(90);

/// A process that is slow until this is dropped. It must not end before.
pub(super) struct Slowed {
    has_ended: Arc<AtomicBool>,
    turns: Option<JoinHandle<()>>,
}

impl Slowed {
    pub(super) fn begin(process: Pid) -> Self {
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&has_ended);
        let turns = thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                kill_process(process, Signal::STOP).unwrap();
                thread::sleep(RESTS);
                kill_process(process, Signal::CONT).unwrap();
                thread::sleep(RUNS);
            }
        });
        Self { has_ended, turns: Some(turns) }
    }
}

impl Drop for Slowed {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        if let Some(turns) = self.turns.take() {
            turns.join().unwrap();
        }
    }
}
