//! The command line: what to measure, where, how large and how often.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Parser, ValueEnum};

use crate::{cluster::ClusterKind, workload::Workload};

/// What to measure, where, how large and how often.
#[derive(Debug, Clone, Parser)]
#[command(name = "engine", bin_name = "cargo bench --bench engine --")]
pub(crate) struct Settings {
    /// What to measure; everything when none is named
    figures: Vec<Figure>,
    /// Where
    #[arg(long, value_enum, env = "OPERETTA_BENCH_CLUSTER", default_value = "embedded")]
    pub(crate) cluster: ClusterKind,
    /// Which operator
    #[arg(long, value_enum, default_value = "trio")]
    pub(crate) workload: Workload,
    /// How large: `full` has the sizes of the targets and takes long
    #[arg(long, value_enum, default_value = "normal")]
    scale: Scale,
    /// How many parents, instead of the scale's
    #[arg(long)]
    parents: Option<usize>,
    /// How often bursts, restarts and processes are repeated; the mean is printed
    #[arg(long)]
    rounds: Option<usize>,
    /// How many times a latency is taken, one at a time
    #[arg(long)]
    samples: Option<usize>,
    /// How many changes a second, of those that do not wait for each other
    #[arg(long, default_value_t = 500)]
    pub(crate) rate: usize,
    /// How many operators the measured process runs
    #[arg(long, hide = true, default_value_t = 1)]
    pub(crate) types: usize,
    /// Run as the process that is measured
    #[arg(long, hide = true)]
    pub(crate) operators_of: Option<PathBuf>,
    /// Run as the process that counts objects with a kube client
    #[arg(long, hide = true)]
    pub(crate) counts_of: Option<PathBuf>,
    /// Share the parents of that process out, as this member of the group
    #[arg(long, hide = true)]
    pub(crate) sharded_as: Option<String>,
    /// Run as the process with the readers of this web endpoint
    #[arg(long, hide = true)]
    pub(crate) readers_of: Option<SocketAddr>,
    /// Run as the process that answers webhooks, with this kubeconfig
    #[arg(long, hide = true)]
    pub(crate) webhooks_of: Option<PathBuf>,
    /// The port of that process
    #[arg(long, hide = true, default_value_t = 0)]
    pub(crate) port: u16,
    /// The folder with the certificate of that process
    #[arg(long, hide = true, default_value = ".")]
    pub(crate) certificates: PathBuf,
    /// The webhook of controller-runtime as a program, instead of building it with Go
    #[arg(long)]
    pub(crate) peer: Option<PathBuf>,
    /// What cargo adds
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}

/// One thing that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Figure {
    /// Many parents at once: time and requests
    Cold,
    /// A start with parents that are synced
    Restart,
    /// From a parent's change to its child's, one at a time
    Change,
    /// The same at a rate
    Rate,
    /// From a child's edit or deletion by another client to its repair
    Repair,
    /// Such a start in a process of its own, beside a kube client that counts: time, CPU, memory
    Start,
    /// Resident memory per parent
    Memory,
    /// Requests and CPU without changes
    Idle,
    /// Fifty parent types over the same child types: watches, memory and a restart
    Types,
    /// What an event of a child costs, by the number of objects
    Events,
    /// The latency of the web endpoint, and the cost of its readers
    Web,
    /// What a typed handler costs beside a dynamic one
    Typed,
    /// Asynchronous handlers that wait, beside an operator that does not
    Waiting,
    /// Parents that read objects that they do not own: events, memory, one object that all read
    Related,
    /// Fifty operators that are registered on a running process, and go again: watches, latency, memory
    Register,
    /// What a webhook adds to a create, beside one of controller-runtime; reviews and conversions a second
    Admission,
    /// Processes that share parents out, beside one that has all: costs, take-overs, writes
    Shards,
}

/// How large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    /// A test that it works
    Quick,
    /// Some minutes for everything
    Normal,
    /// The sizes of the targets
    Full,
}

impl Settings {
    pub(crate) fn chosen(&self) -> &[Figure] {
        if self.figures.is_empty() { Figure::value_variants() } else { &self.figures }
    }

    /// Parents that are created at once, or spread over parent types.
    pub(crate) fn burst(&self) -> usize {
        self.parents.unwrap_or(self.by_scale([200, 1000, 1000]))
    }

    /// Parents that are there at a restart or when idle.
    pub(crate) fn resting(&self) -> usize {
        self.parents.unwrap_or(self.by_scale([200, 2000, 10_000]))
    }

    /// The two numbers of parents between which memory is compared.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        let many = self.parents.unwrap_or(self.by_scale([500, 3000, 10_000]));
        [(many / 10).max(100).min(many / 2), many]
    }

    /// The two numbers of parents between which the cost of an event is compared.
    pub(crate) fn event_sizes(&self) -> [usize; 2] {
        let many = self.parents.unwrap_or(self.by_scale([200, 1000, 10_000]));
        [many / 10, many]
    }

    /// The two numbers of parents that read a related object each.
    pub(crate) fn related_sizes(&self) -> [usize; 2] {
        let many = self.parents.unwrap_or(self.by_scale([300, 2000, 10_000]));
        [100.min(many / 2), many]
    }

    /// Parents that read the same object.
    pub(crate) fn sharing(&self) -> usize {
        self.parents.unwrap_or(self.by_scale([300, 1000, 5000]))
    }

    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(self.by_scale([2, 4, 4]))
    }

    /// How often a restart is repeated: other work of the server falls on it or on its floor by chance.
    pub(crate) fn restarts(&self) -> usize {
        self.rounds.unwrap_or(self.by_scale([2, 4, 12]))
    }

    pub(crate) fn samples(&self) -> usize {
        self.samples.unwrap_or(self.by_scale([50, 200, 500]))
    }

    /// For how many seconds changes are made at a rate.
    pub(crate) fn rate_seconds(&self) -> usize {
        self.by_scale([1, 3, 10])
    }

    /// For how many seconds the web endpoint is under load.
    pub(crate) fn load_seconds(&self) -> u64 {
        self.by_scale([1, 3, 10])
    }

    /// For how many seconds nothing changes.
    pub(crate) fn idle_seconds(&self) -> u64 {
        self.by_scale([5, 20, 60])
    }

    /// How many objects are created with and without a webhook.
    pub(crate) fn admissions(&self) -> usize {
        self.samples.unwrap_or(self.by_scale([100, 500, 2000]))
    }

    /// For how many seconds reviews are sent at a rate.
    pub(crate) fn review_seconds(&self) -> usize {
        self.by_scale([1, 10, 10])
    }

    fn by_scale<T: Copy>(&self, [quick, normal, full]: [T; 3]) -> T {
        match self.scale {
            Scale::Quick => quick,
            Scale::Normal => normal,
            Scale::Full => full,
        }
    }
}
