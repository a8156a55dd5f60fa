//! The one binary of this repository: it runs the operators, prints their manifests, or asks a running process.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// While a start reads lists, objects of many sizes come and go between those that stay. The standard allocator of Linux
/// keeps twice the memory after a start over 100,000 parents.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    operators::program().run()
}
