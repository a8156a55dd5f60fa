//! What leaves the log: a revision with its resource, and all objects at one moment. Values.

use std::{collections::HashMap, sync::Arc};

use super::{Revision, dependents::Dependents, states::States};
use crate::group_resource::GroupResource;

/// A revision with the resource it belongs to, for readers of the whole log.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    /// The resource.
    pub resource: Arc<GroupResource>,
    /// What happened.
    pub revision: Arc<Revision>,
}

/// All objects at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Backup {
    /// The version that they are at.
    pub head: u64,
    /// By resource.
    pub tables: HashMap<Arc<GroupResource>, States>,
    /// The objects that name owners.
    pub(super) dependents: Dependents,
}
