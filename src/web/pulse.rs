//! When the readers of changes are woken: some time after the first change, in groups one after another.
//!
//! A change of a parent is a notice when its reconcile begins. A thousand readers that were woken by it, or all at once
//! during a later reconcile, would compete with it for CPU time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix_web::rt::{self, task::JoinHandle};
use tokio::{sync::watch, time::sleep};

use crate::board::Board;

/// Longer than most reconciles take, and too short to be seen on a page.
const GATHER: Duration = Duration::from_millis(20);
/// A burst costs a reader few packets: one in the time of all groups.
const STEP: Duration = Duration::from_millis(5);
const GROUPS: usize = 16;

/// One timer for all readers of a process. It runs from the first reader on. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(in crate::web) struct Pulse(Arc<Mutex<Option<Beating>>>);

#[derive(Debug)]
struct Beating {
    groups: Vec<watch::Receiver<()>>,
    /// How many readers there have been: they are dealt out to the groups.
    joined: usize,
    task: JoinHandle<()>,
}

impl Pulse {
    /// Beats after each later change of the board.
    pub(in crate::web) fn beats(&self, board: &Board) -> watch::Receiver<()> {
        let mut beating = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The thread that it ran on may have been replaced after a panic.
        let running = beating.take().filter(|it| !it.task.is_finished());
        beating.insert(running.unwrap_or_else(|| Beating::begin(board.clone()))).join()
    }
}

impl Beating {
    fn begin(board: Board) -> Self {
        let (senders, groups): (Vec<_>, _) = (0..GROUPS).map(|_| watch::channel(())).unzip();
        let task = rt::spawn(async move {
            loop {
                board.changed().await;
                sleep(GATHER).await;
                for group in &senders {
                    group.send_replace(());
                    sleep(STEP).await;
                }
            }
        });
        Self { groups, joined: 0, task }
    }

    fn join(&mut self) -> watch::Receiver<()> {
        let mut beats = self.groups[self.joined % GROUPS].clone();
        self.joined += 1;
        beats.mark_unchanged();
        beats
    }
}

#[cfg(test)]
mod tests {
    use tokio::{task::LocalSet, time::Instant};

    use super::*;
    use crate::{
        board::{OperatorInfo, ParentState},
        object::{K8sType, Uid},
        operator::OperatorConfig,
    };

    #[tokio::test(start_paused = true)]
    async fn readers_are_woken_one_after_another_some_time_after_the_first_of_several_changes() {
        let test = async {
            let (board, pulse) = (Board::new(), Pulse::default());
            let config =
                OperatorConfig::new("cook", K8sType::namespaced("v1", "ConfigMap", "configmaps"));
            let name = config.operator_name().unwrap();
            board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
            let _listener = board.subscribe().unwrap();
            let mut beats = [pulse.beats(&board), pulse.beats(&board)];
            let began = Instant::now();
            for parent in ["ns/a", "ns/b", "ns/c"] {
                let state = ParentState::pending(Uid::new("u"), None);
                board.record(&name, &parent.parse().unwrap(), state);
            }
            for (at, beats) in (0..).zip(&mut beats) {
                beats.changed().await.unwrap();
                assert_eq!(began.elapsed(), GATHER + STEP * at);
            }
            // A change after that wakes them again, and nothing else does.
            let [first, _] = &mut beats;
            let again = tokio::time::timeout(Duration::from_mins(1), first.changed());
            assert!(again.await.is_err());
            board.begin_stopping();
            first.changed().await.unwrap();
        };
        LocalSet::new().run_until(test).await;
    }
}
