//! The real helm.

use std::{path::PathBuf, process::Command};

use operetta_controlplane::Binaries;
use serde::Deserialize;
use serde_json::Value;

use crate::cluster::or_ignore;

/// The chart.
pub(crate) const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/helm/operetta");

/// Its path; the test is ignored where it is not built.
pub(crate) fn program() -> PathBuf {
    or_ignore(Binaries::find()).program("helm")
}

/// Its output, or its error.
pub(crate) fn run(arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program());
    // It writes no files of the user.
    command.args(arguments).env("HOME", env!("CARGO_TARGET_TMPDIR"));
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, error) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() { Ok(printed) } else { Err(printed + &error) }
}

/// The objects of the chart with these values.
pub(crate) fn rendered(values: &[&str]) -> Result<Vec<Value>, String> {
    let fixed = ["template", "operetta", CHART, "--namespace", "operetta-system"];
    let sets = values.iter().flat_map(|value| ["--set", value]);
    let text = run(&fixed.into_iter().chain(sets).collect::<Vec<_>>())?;
    let documents = serde_yaml_ng::Deserializer::from_str(&text);
    let objects = documents.map(|document| Value::deserialize(document).unwrap());
    // A comment alone is a document too.
    Ok(objects.filter(Value::is_object).collect())
}

/// What helm itself says of the chart.
pub(crate) fn lint() -> Result<String, String> {
    run(&["lint", "--strict", CHART])
}
