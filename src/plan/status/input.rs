//! The input of a status. Values only.

use std::fmt;

use serde_json::Value;

use super::Beside;
use crate::{
    object::Object,
    operator::{ChildStatus, Condition, ConditionNames},
    reply::StatusSchema,
};

#[derive(Clone, Copy)]
pub(crate) struct StatusInput<'a> {
    pub(crate) parent: &'a Object,
    /// The parent as the handler read it, if others write the status too. Then only what the
    /// handler returns is written, and the other fields here do not count.
    pub(crate) shared: Option<&'a Object>,
    /// What the handler returned; anything but an object leaves its fields as they are.
    pub(crate) handler: Option<&'a Value>,
    /// The framework's own conditions; without `Ready` where that of the handler holds.
    pub(crate) conditions: &'a [Condition],
    /// Types of the framework's conditions that do not apply any more.
    pub(crate) cleared: &'a [String],
    pub(crate) children: ChildrenField<'a>,
    /// How the types of the framework's conditions are written. `conditions` and `cleared` have the
    /// written types.
    pub(crate) names: &'a ConditionNames,
    /// What the operators of the parent own of its status, if it has several.
    pub(crate) beside: Option<&'a Beside>,
    /// Whether this generation of the parent was processed: sets `observedGeneration`.
    pub(crate) observed_generation: bool,
    pub(crate) schema: &'a StatusSchema,
    /// The time, in RFC 3339.
    pub(crate) now: &'a str,
}

/// The list of children in a status.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChildrenField<'a> {
    /// There is none, and the handler may use the name.
    Off,
    /// It stays as it is.
    Kept,
    /// It lists the states of these children.
    Listed(&'a [ChildStatus]),
}

impl fmt::Debug for StatusInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parent, conditions, cleared, now, .. } = self;
        f.debug_struct("StatusInput")
            .field("parent", parent)
            .field("conditions", conditions)
            .field("cleared", cleared)
            .field("now", now)
            .finish_non_exhaustive()
    }
}
