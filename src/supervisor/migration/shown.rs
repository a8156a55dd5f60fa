//! What is shown of a migration.

use std::time::{Duration, Instant};

use crate::{
    board::{Board, Migration, MigrationState},
    cluster::{Progress, Rewrite, Step, Written},
    metrics::Metrics,
    object::K8sType,
};

/// The migration of a type on the board and in the metrics.
pub(super) struct Shown {
    board: Board,
    metrics: Metrics,
    ty: K8sType,
    migration: Option<Migration>,
    last: Option<Instant>,
}

/// Between two changes of a number at least: whoever looks at the page is notified of each.
const EVERY: Duration = Duration::from_secs(1);

impl Shown {
    pub(super) fn new(board: Board, metrics: Metrics, ty: K8sType) -> Self {
        metrics.migration_registered(&ty, &Written::NAMES);
        Self { board, metrics, ty, migration: None, last: None }
    }

    pub(super) fn begin(&mut self, todo: &Rewrite) {
        let (from, to) = (todo.old.clone(), todo.storage.clone());
        self.set(Some(Migration { from, to, ..Migration::default() }));
    }

    pub(super) fn step(&mut self, step: &Step<'_>, progress: &Progress) {
        if let Step::Written(written) = step {
            self.metrics.migrated(&self.ty, written.name());
        }
        self.metrics.migration_remaining(&self.ty, progress.remaining().unwrap_or_default());
        if self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            self.advance(progress, MigrationState::Running);
        }
    }

    pub(super) fn advance(&mut self, progress: &Progress, state: MigrationState) {
        let Some(migration) = self.migration.take() else { return };
        let failures = progress.named().map(|(object, why)| (object.clone(), why.to_owned()));
        self.set(Some(Migration {
            done: progress.done(),
            remaining: progress.remaining(),
            failed: progress.failed(),
            failures: failures.collect(),
            state,
            ..migration
        }));
    }

    pub(super) fn wait(&mut self, why: String) {
        let migration = self.migration.take().unwrap_or_default();
        self.set(Some(Migration { state: MigrationState::Waiting { why }, ..migration }));
    }

    /// Nothing is left to do. That it was done here is shown until the process ends or leads no longer.
    pub(super) fn rest(&mut self) {
        if self.migration.as_ref().is_some_and(|it| it.state != MigrationState::Complete) {
            self.clear();
        }
    }

    /// Another process knows more, or nothing is left to do.
    pub(super) fn clear(&mut self) {
        self.metrics.migration_remaining(&self.ty, 0);
        self.set(None);
    }

    fn set(&mut self, migration: Option<Migration>) {
        self.last = Some(Instant::now());
        self.migration.clone_from(&migration);
        self.board.set_migration(&self.ty.resource_name(), migration);
    }
}
