//! Objects that are stored in an old version of their type: the leader writes them again, and then removes the old version
//! from the CRD.
//!
//! ```text
//! CRD --watch--> Migrator, one for each type in several versions --cluster::migration--> objects, status.storedVersions
//!                   |        `problem`: why it waits, and what to do
//!                   '--how far it is--> Shown --> Board, Metrics
//! ```
//!
//! Invariants:
//! - It writes only while the process leads with the operator of the type, behind the fence of that operator.
//! - No failure ends it or the operators: it is shown, and tried again later.
//! - Without a conversion by a webhook nothing is written: the API server would drop the fields of the other version.

mod migrator;
mod problem;
mod settings;
mod shown;

use std::num::NonZeroU32;

pub use settings::Migration;
use tokio::{runtime::Handle, task::JoinSet};

use self::migrator::{Migrator, MigratorParts};
use crate::{
    board::Board,
    cluster::{Cluster, Pace, Terms},
    object::K8sType,
    operator::conversion::Versions,
};

/// The types to look at, and how fast their objects are written.
#[derive(Debug)]
pub(super) struct Migrated {
    pub(super) types: Vec<K8sType>,
    pub(super) per_second: NonZeroU32,
}

impl Migrated {
    /// `None` if nothing is to be done by itself.
    pub(super) fn of(migration: Migration, versions: &[Versions]) -> Option<Self> {
        let Migration::Automatic { per_second } = migration else { return None };
        let types = versions.iter().map(|versions| versions.hub.clone()).collect();
        Some(Self { types, per_second })
    }
}

/// The running tasks. They end when it is dropped: a write that is then not answered changes nothing of its object.
pub(super) struct Migrations(#[expect(dead_code, reason = "dropping it ends them")] JoinSet<()>);

/// How often a request is sent before the whole is tried again later.
const ATTEMPTS: u32 = 2;

impl Migrations {
    /// `fenced` is the connection with the fence of the operator of a type.
    pub(super) fn start(
        migrated: Option<Migrated>,
        fenced: impl Fn(&K8sType) -> Cluster,
        board: &Board,
        runtime: &Handle,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let Some(Migrated { types, per_second }) = migrated else { return Self(tasks) };
        let pace = Pace::per_second(per_second);
        for ty in types {
            let terms = Terms { pace: pace.clone(), attempts: ATTEMPTS, is_dry_run: false };
            let (cluster, board) = (fenced(&ty), board.clone());
            let migrator = Migrator::new(MigratorParts { cluster, board, ty, terms });
            tasks.spawn_on(migrator.run(), runtime);
        }
        Self(tasks)
    }
}
