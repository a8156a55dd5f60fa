//! What a status is made from. Values only.

use std::fmt;

use serde_json::Value;

use crate::{
    object::Object,
    operator::{ChildStatus, Condition},
    reply::StatusSchema,
};

/// What a status is made from.
#[derive(Clone, Copy)]
pub struct StatusInput<'a> {
    /// The parent as it is cached.
    pub parent: &'a Object,
    /// Where others write the status too, the parent as the handler read it. Then nothing is written
    /// but what the handler returns, whatever else is said here.
    pub shared: Option<&'a Object>,
    /// What the handler returned; all but an object leaves its fields as they are.
    pub handler: Option<&'a Value>,
    /// The framework's own conditions.
    pub conditions: &'a [Condition],
    /// Types of the framework's conditions that do not apply any more.
    pub cleared: &'a [&'a str],
    /// What is said of the single children.
    pub children: ChildrenField<'a>,
    /// Whether this generation of the parent was looked at: sets `observedGeneration`.
    pub observed_generation: bool,
    /// What the parent's status may hold.
    pub schema: &'a StatusSchema,
    /// The time, in RFC 3339.
    pub now: &'a str,
}

/// What a status says of the single children.
#[derive(Debug, Clone, Copy)]
pub enum ChildrenField<'a> {
    /// Nothing, and the handler may use the name.
    Off,
    /// What it said before.
    Kept,
    /// How these stand.
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
