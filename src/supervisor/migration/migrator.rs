//! Looks at the CRD of a type, and migrates its objects when that is to be done.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use tokio::time::{sleep, timeout};

use super::{problem::Problem, shown::Shown};
use crate::{
    board::{Board, MigrationState},
    cluster::{Cluster, Progress, Removed, Rewrite, Terms, Todo, crd_type},
    object::{K8sType, ObjectKey, OneLine},
    schedule::Backoff,
};

/// The task of one type.
pub(super) struct Migrator {
    cluster: Cluster,
    /// The name of the CRD.
    crd: String,
    terms: Terms,
    shown: Shown,
    /// The generation of the CRD by which all API servers store objects.
    settled: Option<i64>,
    /// How often it failed in a row.
    failures: u32,
    /// What was logged last.
    noted: Option<String>,
    seed: u64,
}

pub(super) struct MigratorParts {
    /// Behind the fence of the operator of the type.
    pub(super) cluster: Cluster,
    pub(super) board: Board,
    pub(super) ty: K8sType,
    pub(super) terms: Terms,
}

/// How often the CRD is read, whatever changes.
const LOOK_EVERY: Duration = Duration::from_mins(5);
/// Between turns at least, whatever changes.
const PAUSE: Duration = Duration::from_millis(500);
/// How long an API server may take to store objects in the new version of a CRD that was changed. Servers of one cluster
/// notice it one after the other, and they themselves give each other five seconds before they serve a new CRD.
const SETTLE: Duration = Duration::from_secs(10);
/// When it is tried again.
const RETRY: Backoff = Backoff { min: Duration::from_secs(5), max: LOOK_EVERY };
/// How many failures in a row are logged: the webhooks of a start may not be called yet.
const FAILURES_BEFORE_WARNING: u32 = 2;
/// How many objects are named that cannot be written.
const NAMED: usize = 5;

/// What is awaited before the next turn.
struct Awaited {
    /// The CRD in another version than this one; `None` where it is not installed.
    version: Option<String>,
    /// Whether the CRD could be read.
    is_known: bool,
    within: Duration,
}

impl Migrator {
    pub(super) fn new(MigratorParts { cluster, board, ty, terms }: MigratorParts) -> Self {
        let (crd, metrics) = (ty.resource_name(), cluster.metrics().clone());
        let (shown, seed) = (Shown::new(board, metrics, ty), RandomState::new().hash_one(()));
        Self { cluster, crd, terms, shown, settled: None, failures: 0, noted: None, seed }
    }

    pub(super) async fn run(mut self) {
        let cluster = self.cluster.clone();
        loop {
            cluster.until_leading().await;
            cluster.while_leading(self.turns()).await;
            self.shown.clear();
            self.failures = 0;
        }
    }

    /// Never returns: it is dropped when the process leads no longer.
    async fn turns(&mut self) {
        loop {
            let awaited = self.turn().await;
            self.wait(awaited).await;
        }
    }

    async fn turn(&mut self) -> Awaited {
        let read = self.cluster.read_crd(&self.crd).await;
        let is_known = read.is_ok();
        let version = read.as_ref().ok().and_then(Option::as_ref);
        let version = version.and_then(|crd| crd.metadata.resource_version.clone());
        let looked = match read {
            Ok(crd) => self.look(crd.as_ref()).await,
            Err(why) => Err(Problem::Read { crd: self.crd.clone(), why }),
        };
        self.note(looked.as_ref().err());
        let within = match looked {
            Ok(()) => Backoff::with_jitter(LOOK_EVERY, self.seed),
            Err(_) => RETRY.delay(self.failures, self.seed),
        };
        Awaited { version, is_known, within }
    }

    async fn look(&mut self, crd: Option<&CustomResourceDefinition>) -> Result<(), Problem> {
        let todo = crd.map(Todo::of).transpose();
        match todo.map_err(|why| Problem::Todo { crd: self.crd.clone(), why })? {
            None => {
                self.shown.rest();
                Ok(())
            }
            Some(Todo::Nothing { storage }) => {
                tracing::debug!(crd = self.crd, storage, "everything is stored in one version");
                self.shown.rest();
                Ok(())
            }
            Some(Todo::Rewrite(todo)) if crd.is_some_and(is_converted) => self.migrate(&todo).await,
            Some(Todo::Rewrite(todo)) => {
                let old = todo.old.join(", ");
                Err(Problem::NoConversion { crd: self.crd.clone(), old })
            }
        }
    }

    async fn migrate(&mut self, todo: &Rewrite) -> Result<(), Problem> {
        if self.failures == 0 {
            tracing::info!(crd = self.crd, "{}: they are written again", todo.said());
        }
        self.shown.begin(todo);
        if self.settled != todo.generation {
            sleep(SETTLE).await;
            self.settled = todo.generation;
        }
        let (mut progress, shown) = (Progress::naming(NAMED), &mut self.shown);
        let rewriting = self.cluster.rewrite(todo, &self.terms, &mut progress, |step, progress| {
            shown.step(&step, progress);
        });
        let rewritten = rewriting.await;
        self.shown.advance(&progress, MigrationState::Running);
        rewritten.map_err(|why| Problem::rewrite(todo, &todo.ty, why))?;
        if progress.is_complete() {
            return self.remove(todo, &progress).await;
        }
        Err(Problem::refused(todo, &progress))
    }

    async fn remove(&mut self, todo: &Rewrite, progress: &Progress) -> Result<(), Problem> {
        match self.cluster.remove_old_versions(todo).await {
            Ok(Removed::Yes) => {
                tracing::info!(crd = self.crd, "{}; {}", progress.said(false), todo.removed());
                self.shown.advance(progress, MigrationState::Complete);
                Ok(())
            }
            // It begins again at once, with the CRD as it is now.
            Ok(Removed::Changed(changed)) => {
                tracing::debug!(crd = self.crd, "{changed}");
                Ok(())
            }
            Err(why) => Err(Problem::remove(todo, why)),
        }
    }

    /// Shows what is wrong, and logs it once for as long as it stays the same.
    fn note(&mut self, problem: Option<&Problem>) {
        let Some(problem) = problem.map(ToString::to_string) else {
            self.failures = 0;
            self.noted = None;
            return;
        };
        self.failures += 1;
        self.shown.wait(problem.clone());
        if self.failures >= FAILURES_BEFORE_WARNING && self.noted.as_ref() != Some(&problem) {
            tracing::warn!("{}", OneLine(&problem));
            self.noted = Some(problem);
        }
    }

    /// Until the CRD has changed, or some time has passed.
    async fn wait(&self, Awaited { version, is_known, within }: Awaited) {
        if !is_known {
            return sleep(within).await;
        }
        // A CRD that others write all the time is no reason to begin all the time.
        sleep(if self.failures == 0 { PAUSE } else { RETRY.min.min(within) }).await;
        let (ty, key) = (crd_type(), ObjectKey::cluster(&self.crd));
        let change = self.cluster.change(&ty, &key, (version.as_deref(), within));
        let _ = timeout(within, change).await;
    }
}

/// Whether the API server lets a webhook convert between the versions.
fn is_converted(crd: &CustomResourceDefinition) -> bool {
    crd.spec.conversion.as_ref().is_some_and(|conversion| conversion.strategy == "Webhook")
}
