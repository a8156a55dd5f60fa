//! Discovery: groups, versions and resources in the plain and in the aggregated form, and the version of the
//! server.
//!
//! ```text
//!  data file of built-in types ─┐
//!                               ├─ groups ─┬─ plain       /api  /apis  /apis/{group}  /apis/{group}/{version}
//!  registry: custom types ──────┘          └─ aggregated  /api  /apis
//! ```
//!
//! **Invariant**: both forms and `OpenAPI` come from the same groups, made when they are asked for. What is listed
//! is what the real server lists, with the subresources of which some are answered 501 here.

mod aggregated;
mod groups;
mod listed;
mod plain;

pub(crate) use self::{
    aggregated::{MEDIA_PARAMETERS, aggregated, aggregated_core},
    groups::{Group, core, find, others},
    listed::{Kind, Listed, ListedVersion, Subresource},
    plain::{core_versions, group, group_list, resources},
};

/// The release whose behaviour is imitated.
pub(crate) const IMITATED: &str = "v1.37.2";

/// `/version`, which shows that it is not the real server.
pub(crate) fn version() -> String {
    let git = format!("{IMITATED}+operetta");
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let platform = format!("{}/{architecture}", std::env::consts::OS);
    let fields = [
        ("major", "1"),
        ("minor", "37"),
        ("emulationMajor", "1"),
        ("emulationMinor", "37"),
        ("minCompatibilityMajor", "1"),
        ("minCompatibilityMinor", "36"),
        ("gitVersion", &git),
        ("gitCommit", ""),
        ("gitTreeState", ""),
        ("buildDate", "1970-01-01T00:00:00Z"),
        ("goVersion", ""),
        ("compiler", "rustc"),
        ("platform", &platform),
    ];
    let lines = fields.map(|(name, value)| format!("  \"{name}\": \"{value}\""));
    format!("{{\n{}\n}}", lines.join(",\n"))
}
