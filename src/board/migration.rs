//! How far the objects of a type are that may be stored in an old version.

use crate::object::ObjectKey;

/// The migration of a type, as the leader knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Migration {
    /// The old versions; none while they are not known.
    pub(crate) from: Vec<String>,
    /// The version in which objects are stored now.
    pub(crate) to: String,
    /// How many need nothing more.
    pub(crate) done: usize,
    /// About how many are left; `None` if the API server did not say.
    pub(crate) remaining: Option<usize>,
    /// How many the API server refused.
    pub(crate) failed: usize,
    /// The first of those, and why.
    pub(crate) failures: Vec<(ObjectKey, String)>,
    pub(crate) state: MigrationState,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum MigrationState {
    #[default]
    Running,
    /// It begins again later.
    Waiting {
        /// What is wrong, and what to do.
        why: String,
    },
    /// The old versions were removed from the CRD.
    Complete,
}

impl Migration {
    /// The state in one word.
    pub(crate) fn name(&self) -> &'static str {
        match self.state {
            MigrationState::Running => "running",
            MigrationState::Waiting { .. } => "waiting",
            MigrationState::Complete => "complete",
        }
    }

    /// The state as a sentence without its full stop.
    pub(crate) fn sentence(&self) -> String {
        let Self { to, done, remaining, failed, .. } = self;
        let from = self.from.join(", ");
        match &self.state {
            MigrationState::Waiting { why } => why.clone(),
            MigrationState::Complete => format!("migrated from {from} to {to}: {done} objects"),
            MigrationState::Running => {
                let remaining = remaining.map(|many| format!(", about {many} remain"));
                let failed = (*failed > 0).then(|| format!(", {failed} cannot be written"));
                let rest: String = remaining.into_iter().chain(failed).collect();
                format!("migrating from {from} to {to}: {done} done{rest}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_migration_says_how_far_it_is() {
        let running = Migration {
            from: vec!["v1alpha1".to_owned()],
            to: "v1".to_owned(),
            done: 120,
            remaining: Some(880),
            ..Migration::default()
        };
        let said = "migrating from v1alpha1 to v1: 120 done, about 880 remain";
        assert_eq!(running.sentence(), said);
        let failing = Migration { failed: 2, ..running.clone() };
        assert_eq!(failing.sentence(), format!("{said}, 2 cannot be written"));
        let waiting = MigrationState::Waiting { why: "no permission".to_owned() };
        assert_eq!(Migration { state: waiting, ..running.clone() }.sentence(), "no permission");
        let complete = Migration { state: MigrationState::Complete, ..running };
        assert_eq!(complete.sentence(), "migrated from v1alpha1 to v1: 120 objects");
    }
}
