//! Measures the engine beside its floor: the cost of the same work without it.
//!
//! `cargo bench --bench engine` measures everything on the embedded API server;
//! `-- --cluster controlplane` does on the real one, `-- --help` lists the options. A missed
//! target is printed like a met one; only an error ends the program with a non-zero code.

mod admission;
mod bare;
mod change;
mod cluster;
mod cold;
mod counting;
mod events;
mod floor;
mod helper_process;
mod idle;
mod look_ups;
mod many_types;
mod memory;
mod operators;
mod parents;
mod process;
mod rate;
mod recording;
mod register;
mod related;
mod repair;
mod requests;
mod restart;
mod seeding;
mod settings;
mod shards;
mod sightings;
mod start;
mod table;
mod twins;
mod typed;
mod waiting;
mod web;
mod workload;

use anyhow::Result;
use clap::Parser;

use settings::{Figure, Settings};
use table::Row;
use tikv_jemallocator::Jemalloc;

/// As the program `operators` has it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

#[tokio::main]
async fn main() -> Result<()> {
    let settings = Settings::parse();
    if let Some(kubeconfig) = &settings.operators_of {
        let what = (settings.workload, settings.types);
        return process::run_operators(kubeconfig, what, settings.sharded_as.as_deref()).await;
    }
    if let Some(kubeconfig) = &settings.counts_of {
        return counting::run(kubeconfig, settings.workload).await;
    }
    if let Some(web) = settings.readers_of {
        return web::readers::read(web, settings.burst()).await;
    }
    if let Some(kubeconfig) = &settings.webhooks_of {
        return admission::answer(kubeconfig, settings.port, &settings.certificates).await;
    }
    if !settings.bench {
        println!("use `cargo bench --bench engine`: a debug build would measure itself");
        return Ok(());
    }
    println!("{}\n", table::machine());
    let mut rows = Vec::new();
    for figure in settings.chosen() {
        rows.extend(measure(*figure, &settings).await?);
    }
    println!("{}", table::render(&rows, settings.cluster.name()));
    println!("{}", table::machine());
    Ok(())
}

async fn measure(figure: Figure, settings: &Settings) -> Result<Vec<Row>> {
    match figure {
        Figure::Cold => cold::measure(settings).await,
        Figure::Restart => restart::measure(settings).await,
        Figure::Change => change::measure(settings).await,
        Figure::Rate => rate::measure(settings).await,
        Figure::Repair => repair::measure(settings).await,
        Figure::Start => start::measure(settings).await,
        Figure::Memory => memory::measure(settings).await,
        Figure::Idle => idle::measure(settings).await,
        Figure::Types => many_types::measure(settings).await,
        Figure::Events => events::measure(settings).await,
        Figure::Web => web::measure(settings).await,
        Figure::Typed => typed::measure(settings),
        Figure::Waiting => waiting::measure(settings).await,
        Figure::Related => related::measure(settings).await,
        Figure::Register => register::measure(settings).await,
        Figure::Admission => admission::measure(settings).await,
        Figure::Shards => shards::measure(settings).await,
    }
}
