//! The one binary of this repository: it runs the operators, prints their manifests, or asks a running process.

use std::process::ExitCode;

fn main() -> ExitCode {
    operators::program().run()
}
