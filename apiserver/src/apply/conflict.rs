//! Fields that an applier would change and that others manage, and the `Status` for the client.

use std::fmt::{self, Write as _};

use super::{
    field_set::FieldSet,
    managers::{ManagerId, Operation},
    path_element::{self, Path},
};

/// One field that another manager has with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The name of the other manager.
    pub manager: String,
    /// How the other manager wrote the field.
    pub operation: Operation,
    /// The subresource that it was written through; empty for the main resource.
    pub subresource: String,
    /// The version that an updater wrote in; `None` for appliers.
    pub api_version: Option<String>,
    /// The field, as `.spec.ports[name="http"].port`.
    pub path: String,
    at: Path,
    sort_key: String,
}

/// All conflicts of one request; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicts(Vec<Conflict>);

/// One entry of `details.causes` of the `Status`; its reason is `FieldManagerConflict`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// `conflict with "kubectl" using v1`
    pub message: String,
    /// `.data.key`
    pub field: String,
}

impl Conflict {
    pub(super) fn new(id: &ManagerId, path: Path) -> Self {
        Self {
            manager: id.manager.clone(),
            operation: id.operation,
            subresource: id.subresource.clone(),
            api_version: id.api_version.clone(),
            path: path_element::display(&path),
            at: path,
            sort_key: id.sort_key(),
        }
    }

    /// The other manager as messages name it.
    fn who(&self) -> String {
        let mut who = serde_json::Value::from(self.manager.as_str()).to_string();
        if !self.subresource.is_empty() {
            let _ = write!(who, " with subresource \"{}\"", self.subresource);
        }
        if let Some(version) = &self.api_version {
            let _ = write!(who, " using {version}");
        }
        who
    }
}

impl Conflicts {
    pub(super) fn new(mut conflicts: Vec<Conflict>) -> Option<Self> {
        conflicts.sort_by(|a, b| a.sort_key.cmp(&b.sort_key));
        (!conflicts.is_empty()).then_some(Self(conflicts))
    }

    /// Without those whose field is in `allowed`; `None` when none is left.
    pub(super) fn outside(self, allowed: &FieldSet) -> Option<Self> {
        let conflicts = self.0.into_iter().filter(|conflict| !allowed.contains(&conflict.at));
        Self::new(conflicts.collect())
    }

    /// The single conflicts, grouped by manager.
    pub fn as_slice(&self) -> &[Conflict] {
        &self.0
    }

    /// The `details.causes` of the `Status`.
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |conflict: &Conflict| Cause {
            message: format!("conflict with {}", conflict.who()),
            field: conflict.path.clone(),
        };
        self.0.iter().map(cause).collect()
    }
}

/// The message of the `Status`.
impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            let who = only.who();
            return write!(f, "Apply failed with 1 conflict: conflict with {who}: {}", only.path);
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        for (index, group) in self.0.chunk_by(|a, b| a.sort_key == b.sort_key).enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}conflicts with {}:", group[0].who())?;
            group.iter().try_for_each(|conflict| write!(f, "\n- {}", conflict.path))?;
        }
        Ok(())
    }
}
