//! How a write changes an object, in each version in which fields are managed.

use std::collections::BTreeMap;

use super::{
    compare::{Comparison, compare},
    managers::Managers,
    versions::Typed,
};

/// The change in each version.
#[derive(Debug)]
pub(super) struct Changes {
    pub(super) own: Comparison,
    /// In the versions that differ from that of the request.
    others: BTreeMap<String, Comparison>,
}

impl Changes {
    /// The changes between two objects of the version of the request, where `own` leaves out what the endpoint ignores.
    ///
    /// # Errors
    /// Why one of them is none of a version in which fields are managed.
    pub(super) fn between(
        before: &Typed<'_>,
        after: &Typed<'_>,
        own: Comparison,
        (managers, api_version): (&Managers, &str),
    ) -> Result<Self, String> {
        let mut others = BTreeMap::new();
        let versions = managers.values().map(|managed| &managed.api_version);
        for version in versions.filter(|version| *version != api_version && before.has_versions()) {
            if !others.contains_key(version) {
                let failed =
                    |what: &str, why: String| format!("failed to convert {what} object: {why}");
                let old = before.at(version).map_err(|why| failed("old", why))?;
                let new = after.at(version).map_err(|why| failed("new", why))?;
                others.insert(version.clone(), compare(old.ty(), &old.object, &new.object));
            }
        }
        Ok(Self { own, others })
    }

    /// The change as managers of a version see it.
    pub(super) fn at(&self, version: &str) -> &Comparison {
        self.others.get(version).unwrap_or(&self.own)
    }
}
