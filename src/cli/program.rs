//! A program with operators, as its author describes it.

use std::path::Path;

use super::deployed::Deployed;
use crate::supervisor::SupervisorBuilder;

/// A program with operators, whose command line can be changed before it [runs](Self::run).
#[derive(Debug)]
#[must_use]
pub struct Program {
    pub(super) supervisor: SupervisorBuilder,
    pub(super) deployed: Deployed,
    pub(super) about: String,
    /// Commands for a first try on an embedded server.
    pub(super) suggested: Vec<String>,
    /// Whether a program outside of a cluster brings its API server along without being asked.
    pub(super) prefers_embedded: bool,
}

impl Program {
    /// The program of [`SupervisorBuilder::program`], otherwise that of the file that runs, in version 0.0.0.
    pub fn new(supervisor: SupervisorBuilder) -> Self {
        let (name, version) = supervisor.named().unwrap_or_else(of_file);
        Self {
            deployed: Deployed::new(&name, &version),
            about: "Runs Kubernetes operators in one process.".to_owned(),
            suggested: Vec::new(),
            prefers_embedded: false,
            supervisor: supervisor.program(&name, &version),
        }
    }

    /// Sets what the help says first.
    pub fn about(self, text: &str) -> Self {
        Self { about: text.to_owned(), ..self }
    }

    /// Sets the names that manifests have. Default is the name of the program for all of them.
    pub fn deployed(self, deployed: Deployed) -> Self {
        Self { deployed, ..self }
    }

    /// Sets commands for a first try, which are printed when the operators run on an embedded API server.
    pub fn suggest<C: Into<String>>(self, commands: impl IntoIterator<Item = C>) -> Self {
        Self { suggested: commands.into_iter().map(Into::into).collect(), ..self }
    }

    /// Brings an API server along wherever no flag says otherwise and the process does not run in a cluster, for a program
    /// that is a demonstration. By default the cluster is [the one of the environment](crate::supervisor::Connect::infer).
    pub fn prefer_embedded(self) -> Self {
        Self { prefers_embedded: true, ..self }
    }
}

/// Of the file that runs.
fn of_file() -> (String, String) {
    let file = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&file).file_stem().and_then(|name| name.to_str());
    (name.unwrap_or("operators").to_owned(), "0.0.0".to_owned())
}
