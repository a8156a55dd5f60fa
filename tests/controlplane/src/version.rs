//! The versions of Kubernetes that the rig builds and starts.

use std::path::PathBuf;
use std::{fmt, str};

/// The folder of the Go module that builds the programs of Kubernetes.
const MODULE: &str = env!("CARGO_MANIFEST_DIR");

/// A version of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(&'static str);

/// Not one of the versions that the rig builds.
#[derive(Debug, thiserror::Error)]
#[error("no control plane of version {0:?}: there are {known}", known = known())]
pub struct UnknownVersion(String);

impl Version {
    /// The newest patch release of each minor version, oldest first.
    pub const ALL: [Self; 5] =
        [Self("v1.33.13"), Self("v1.34.4"), Self("v1.35.4"), Self("v1.36.3"), Self("v1.37.2")];

    /// The version that the embedded server is held to, and that tests start unless they ask for another.
    pub const REFERENCE: Self = Self::ALL[4];

    /// The version that a value of `OPERETTA_TEST_CLUSTER` chooses, such as `controlplane` or `controlplane:1.33`.
    /// `None` where it chooses no control plane.
    ///
    /// # Errors
    /// [`UnknownVersion`] where the rig does not build it.
    pub fn chosen(cluster: &str) -> Option<Result<Self, UnknownVersion>> {
        match cluster.split_once(':') {
            None if cluster == "controlplane" => Some(Ok(Self::REFERENCE)),
            Some(("controlplane", minor)) => Some(minor.parse()),
            _ => None,
        }
    }

    /// As the programs report it, such as `v1.36.3`.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Without the patch release, such as `1.36`.
    pub fn minor(self) -> &'static str {
        let numbers = self.0.trim_start_matches('v');
        numbers.rsplit_once('.').map_or(numbers, |(minor, _)| minor)
    }

    /// The file that pins the modules. That of the reference is the module's own.
    pub(crate) fn go_mod(self) -> PathBuf {
        let module = PathBuf::from(MODULE);
        let folder = if self == Self::REFERENCE {
            module
        } else {
            module.join("versions").join(self.minor())
        };
        folder.join("go.mod")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl str::FromStr for Version {
    type Err = UnknownVersion;

    /// Of the minor version.
    fn from_str(minor: &str) -> Result<Self, UnknownVersion> {
        let found = Self::ALL.into_iter().find(|version| version.minor() == minor);
        found.ok_or_else(|| UnknownVersion(minor.to_owned()))
    }
}

fn known() -> String {
    Version::ALL.map(Version::minor).join(", ")
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn each_version_is_the_one_that_its_go_module_pins() {
        for version in Version::ALL {
            let go_mod = std::fs::read_to_string(version.go_mod()).expect("go.mod is there");
            assert!(go_mod.contains(&format!("k8s.io/kubernetes {version}\n")), "{version}");
        }
    }

    #[test]
    fn a_cluster_chooses_the_reference_or_a_version_by_name() {
        let chosen = |cluster: &str| {
            Version::chosen(cluster).map(|version| version.map_err(|e| e.to_string()))
        };
        assert_eq!(chosen("controlplane"), Some(Ok(Version::REFERENCE)));
        for version in Version::ALL {
            assert_eq!(chosen(&format!("controlplane:{}", version.minor())), Some(Ok(version)));
        }
        assert_eq!(chosen("embedded"), None);
        let unknown = chosen("controlplane:1.3").expect("a control plane").expect_err("no version");
        assert_eq!(
            unknown,
            "no control plane of version \"1.3\": there are 1.33, 1.34, 1.35, 1.36, 1.37"
        );
    }
}
