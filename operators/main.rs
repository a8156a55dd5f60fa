//! The one binary of this repository: it runs the operators, prints their manifests, or asks a running process.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// Objects of many sizes come and go while a start reads lists: the standard allocator keeps a third more memory then.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    operators::program().run()
}
