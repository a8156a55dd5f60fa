//! A change of a CRD, and what it means.

use serde::Serialize;

/// What a change means. The order is that of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Stored objects stay valid, and what clients send is still accepted.
    Safe,
    /// Stored objects stay, but clients or manifests that worked before do not work any more.
    NeedsVersion,
    /// Stored objects lose data, or their updates are refused, or the API server refuses the CRD.
    Breaks,
}

/// One change from a CRD to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrdChange {
    /// What it means.
    pub verdict: Verdict,
    /// The name of the CRD.
    pub crd: String,
    /// The version; none if it is of the whole type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where: in an object, such as `.spec.ports[*].name`; of what is no field of objects, in the CRD or its version. Empty
    /// for all of it.
    pub path: String,
    /// What changed.
    pub change: String,
    /// What to do, or what to know.
    pub remedy: String,
}

impl Verdict {
    /// As it is written in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::NeedsVersion => "needs-version",
            Self::Breaks => "breaks",
        }
    }
}

/// A change of a whole type.
pub(super) fn whole(
    crd: &str,
    verdict: Verdict,
    path: &str,
    change: &str,
    remedy: &str,
) -> CrdChange {
    CrdChange {
        verdict,
        crd: crd.to_owned(),
        version: None,
        path: path.to_owned(),
        change: change.to_owned(),
        remedy: remedy.to_owned(),
    }
}
