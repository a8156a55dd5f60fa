//! One small operator, `Greeting`, written with several frameworks: what each of them does in the same world.
//!
//! Each program runs as a process, on the embedded API server or, with `OPERETTA_TEST_CLUSTER=controlplane`, on the
//! real one. What all do is asserted in `common.rs`; where they differ, `differences.rs` has the table that
//! the pages in `docs/` show. At last `moves.rs` replaces each by the program with Operetta. A program whose language is
//! not installed is ignored.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{path::Path, process::ExitCode};

mod build;
mod cluster;
mod common;
mod differences;
mod greeter;
mod metacontroller;
mod moves;
mod page;
mod world;

use crate::{
    differences::{Peer, of},
    greeter::Program,
    metacontroller::Webhook,
    world::World,
};

#[operetta_harness::test]
async fn operetta_with_rust_types() {
    plays("Operetta", Program::new(env!("CARGO_BIN_EXE_greeter-operetta"))).await;
}

#[operetta_harness::test]
async fn operetta_with_json() {
    plays("Operetta", Program::new(env!("CARGO_BIN_EXE_greeter-operetta-dynamic"))).await;
}

#[operetta_harness::test]
async fn kube_rs() {
    plays("kube-rs", Program::new(env!("CARGO_BIN_EXE_greeter-kube-rs"))).await;
}

#[operetta_harness::test]
async fn kopf() {
    plays("Kopf", build::kopf()).await;
}

#[operetta_harness::test]
async fn controller_runtime() {
    plays("controller-runtime", build::controller_runtime()).await;
}

#[operetta_harness::test]
async fn roperator() {
    let program = Program::new(env!("CARGO_BIN_EXE_greeter-roperator"));
    let program = program.variable("ROPERATOR_SERVER_PORT", Path::new("0"));
    plays("roperator", program).await;
}

#[operetta_harness::test]
async fn metacontroller_with_a_webhook() {
    let webhook = Webhook::start().await;
    let world = World::start(build::metacontroller(), &webhook.objects()).await;
    plays_in(world, of("Metacontroller 1.5.20")).await;
}

async fn plays(name: &str, program: Program) {
    plays_in(World::start(program, &[]).await, of(name)).await;
}

async fn plays_in(mut world: World, peer: &Peer) {
    common::plays(&world).await;
    differences::plays(&mut world, peer).await;
    moves::plays(&mut world).await;
    world.end();
}

fn main() -> ExitCode {
    operetta_harness::main()
}
