//! Where documents are.

use crate::resource::Resources;

/// Whether custom types are in a group version.
pub(super) fn is_custom(resources: &Resources, group: &str, version: &str) -> bool {
    resources.of_group_version(group, version).any(|resource| resource.is_custom())
}

/// `api/v1`, `apis/apps/v1`.
pub(super) fn group_version_path(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        _ => format!("apis/{group}/{version}"),
    }
}
