//! The options of a control plane.

use crate::Version;

/// How to start a control plane. The default suits most tests.
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) version: Version,
    pub(crate) api_server_flags: Vec<String>,
    pub(crate) feature_gates: Vec<String>,
    pub(crate) controller_manager_flags: Vec<String>,
    pub(crate) controller_manager: bool,
    pub(crate) audit: bool,
    pub(crate) users: Vec<User>,
}

/// A user that authenticates with a token and has the permissions that RBAC grants: at first none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub(crate) name: String,
    pub(crate) groups: Vec<String>,
}

impl User {
    /// A user in no group but `system:authenticated`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), groups: Vec::new() }
    }

    /// Adds a group.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }
}

/// Tests whose roles stay bound have users of their own.
const USERS: [&str; 13] = [
    "restricted",
    "half-restricted",
    "one-of-two",
    "tenants",
    "operator",
    "guarded-operator",
    "keeper",
    "keeper-within",
    "planner",
    "reader",
    "cooks",
    "replica",
    "sharer",
];

impl Default for Options {
    /// The version that the embedded server is held to, with audit log and controller manager, and users to which
    /// tests bind roles.
    fn default() -> Self {
        Self {
            version: Version::REFERENCE,
            api_server_flags: Vec::new(),
            feature_gates: Vec::new(),
            controller_manager_flags: Vec::new(),
            controller_manager: true,
            audit: true,
            users: USERS.map(User::new).to_vec(),
        }
    }
}

impl Options {
    /// The version of Kubernetes.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// A flag of kube-apiserver, such as `--watch-cache=false`. A repeated flag wins over the one set here.
    #[must_use]
    pub fn api_server_flag(mut self, flag: impl Into<String>) -> Self {
        self.api_server_flags.push(flag.into());
        self
    }

    /// Switches a feature gate of kube-apiserver, such as `WatchList`.
    #[must_use]
    pub fn feature_gate(mut self, name: &str, enabled: bool) -> Self {
        self.feature_gates.push(format!("{name}={enabled}"));
        self
    }

    /// A flag of kube-controller-manager.
    #[must_use]
    pub fn controller_manager_flag(mut self, flag: impl Into<String>) -> Self {
        self.controller_manager_flags.push(flag.into());
        self
    }

    /// Whether kube-controller-manager runs: without it nothing is collected and namespaces never end.
    #[must_use]
    pub fn controller_manager(mut self, enabled: bool) -> Self {
        self.controller_manager = enabled;
        self
    }

    /// Whether every request is written to the audit log (level Metadata).
    #[must_use]
    pub fn audit(mut self, enabled: bool) -> Self {
        self.audit = enabled;
        self
    }

    /// Adds a user, or replaces the one of the same name.
    #[must_use]
    pub fn user(mut self, user: User) -> Self {
        self.users.retain(|known| known.name != user.name);
        self.users.push(user);
        self
    }
}
