//! Measures the `echo-server` operator, always beside its floor: what the same work costs without it.
//!
//! `cargo bench --bench echo_servers` measures everything on the embedded API server;
//! `-- --cluster controlplane` does on the real one, `-- --help` names the rest. It judges nothing:
//! a target that is missed is printed like one that is met, and only an error ends it with a code.

mod burst;
mod cluster;
mod floor;
mod latency;
mod memory;
mod operators;
mod parents;
mod restart;
mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use cluster::ClusterKind;
use table::Row;

/// What to measure, where and how often.
#[derive(Debug, Clone, Parser)]
#[command(name = "echo_servers", bin_name = "cargo bench --bench echo_servers --")]
pub(crate) struct Settings {
    /// What to measure; everything when none is named
    figures: Vec<Figure>,
    /// Where
    #[arg(long, value_enum, env = "OPERETTA_BENCH_CLUSTER", default_value = "embedded")]
    cluster: ClusterKind,
    /// How many parents are created at once, or restarted over
    #[arg(long, default_value_t = 1000)]
    parents: usize,
    /// How often these are repeated; the mean is printed
    #[arg(long, default_value_t = 4)]
    rounds: usize,
    /// How many times a latency is taken
    #[arg(long, default_value_t = 200)]
    samples: usize,
    /// The two numbers of parents between which memory is compared
    #[arg(long, num_args = 2, default_values_t = [500, 2000])]
    sizes: Vec<usize>,
    /// Run as the process whose memory is measured
    #[arg(long, hide = true)]
    operators_of: Option<PathBuf>,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// One thing that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// Many parents at once: time and requests
    Burst,
    /// Resident memory per parent
    Memory,
    /// From a parent's change to its child's, when idle
    Latency,
    /// A start over parents that are as they should be
    Restart,
}

#[tokio::main]
async fn main() -> Result<()> {
    let settings = Settings::parse();
    if let Some(kubeconfig) = &settings.operators_of {
        return memory::run_operators(kubeconfig).await;
    }
    if !settings.bench {
        println!("use `cargo bench --bench echo_servers`: a debug build would measure itself");
        return Ok(());
    }
    println!("{}\n", table::machine());
    let mut rows = Vec::new();
    for figure in chosen(&settings.figures) {
        rows.extend(measure(*figure, &settings).await?);
    }
    println!("{}", table::render(&rows, settings.cluster.name()));
    Ok(())
}

fn chosen(figures: &[Figure]) -> &[Figure] {
    if figures.is_empty() { Figure::value_variants() } else { figures }
}

async fn measure(figure: Figure, settings: &Settings) -> Result<Vec<Row>> {
    match figure {
        Figure::Burst => burst::measure(settings).await,
        Figure::Memory => memory::measure(settings).await,
        Figure::Latency => latency::measure(settings).await,
        Figure::Restart => restart::measure(settings).await,
    }
}
