//! Why a reconcile started.

use std::{borrow::Cow, fmt, mem};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::object::{K8sType, ObjectKey, ResourceVersion};

/// A cause of a reconcile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The parent was in the first complete list after the process started.
    Restarted,
    /// The parent appeared or changed.
    ParentChanged {
        /// The version before; `None` when it appeared.
        from: Option<ResourceVersion>,
        /// The version now.
        to: ResourceVersion,
    },
    /// The parent got a deletionTimestamp.
    ParentDeleted,
    /// A user requested a reconcile.
    Command {
        /// The user, if known.
        by: Option<Box<str>>,
    },
    /// The program reported a change outside of Kubernetes.
    External,
    /// The configuration of the operator changed.
    Reconfigured,
    /// The definition of the parents' type changed: it declares another status.
    DefinitionChanged,
    /// The operator was resumed, and a reconcile of the parent was deferred.
    Resumed,
    /// The pause of the parent ended by itself.
    PauseEnded,
    /// A child was created, changed or deleted.
    ChildChanged(Box<ObjectChange>),
    /// A related object was created, changed or deleted.
    RelatedChanged(Box<ObjectChange>),
    /// Related objects were listed, or cannot be.
    RelatedListed {
        /// Their type.
        ty: K8sType,
    },
    /// The parent or a child changed and is undecodable.
    Undecodable {
        /// Its type.
        ty: K8sType,
        /// Its key, if that is readable.
        key: Option<ObjectKey>,
    },
    /// The previous reconcile wrote children.
    OwnWrites,
    /// The resync interval of the handler has passed.
    Resync,
    /// The previous reconcile failed, and its backoff has passed.
    Retry,
    /// The previous reconcile waited, and its longest wait has passed.
    Recheck,
    /// The delay for a flapping object has passed.
    Slowed,
    /// A flapping object may have settled.
    Calming,
    /// More causes than are kept.
    More {
        /// How many.
        count: usize,
    },
}

/// What happened to a child or a related object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectChange {
    /// Its type.
    pub(crate) ty: K8sType,
    /// Its key.
    pub(crate) key: ObjectKey,
    /// The version before; `None` when it appeared.
    pub from: Option<ResourceVersion>,
    /// The version now; `None` when it is gone.
    pub(crate) to: Option<ResourceVersion>,
}

/// Collects the causes between two reconciles; bounded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Causes {
    kept: Vec<Cause>,
    omitted: usize,
}

/// The most causes kept for one reconcile.
const MAX_CAUSES: usize = 8;

// === Cause ===

impl Cause {
    /// The cause in one word.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Restarted => "Restarted",
            Self::ParentChanged { .. } => "ParentChanged",
            Self::ParentDeleted => "ParentDeleted",
            Self::Command { .. } => "Command",
            Self::External => "External",
            Self::Reconfigured => "Reconfigured",
            Self::DefinitionChanged => "DefinitionChanged",
            Self::Resumed => "Resumed",
            Self::PauseEnded => "PauseEnded",
            Self::ChildChanged(change) if change.to.is_none() => "ChildDeleted",
            Self::ChildChanged(_) => "ChildChanged",
            Self::RelatedChanged(change) if change.to.is_none() => "RelatedDeleted",
            Self::RelatedChanged(_) => "RelatedChanged",
            Self::RelatedListed { .. } => "RelatedListed",
            Self::Undecodable { .. } => "Undecodable",
            Self::OwnWrites => "OwnWrites",
            Self::Resync => "Resync",
            Self::Retry => "Retry",
            Self::Recheck => "Recheck",
            Self::Slowed => "Slowed",
            Self::Calming => "Calming",
            Self::More { .. } => "More",
        }
    }

    fn versions(&self) -> (Option<&ResourceVersion>, Option<&ResourceVersion>) {
        match self {
            Self::ParentChanged { from, to } => (from.as_ref(), Some(to)),
            Self::ChildChanged(change) | Self::RelatedChanged(change) => {
                (change.from.as_ref(), change.to.as_ref())
            }
            _ => (None, None),
        }
    }

    /// Merges a later change of the same object; returns any other cause.
    fn merge(&mut self, later: Self) -> Option<Self> {
        match (self, later) {
            (Self::ParentChanged { to, .. }, Self::ParentChanged { to: newest, .. }) => {
                *to = newest;
                None
            }
            (Self::ChildChanged(change), Self::ChildChanged(later))
            | (Self::RelatedChanged(change), Self::RelatedChanged(later))
                if change.ty == later.ty && change.key == later.key =>
            {
                change.to = later.to;
                None
            }
            (same, later) if *same == later => None,
            (_, later) => Some(later),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restarted => f.write_str("the process started"),
            Self::ParentChanged { from, to } => changed(f, &"the parent", from.as_ref(), Some(to)),
            Self::ParentDeleted => f.write_str("the parent is being deleted"),
            Self::Command { by: Some(by) } => write!(f, "{by} requested a reconcile"),
            Self::Command { by: None } => f.write_str("a reconcile was requested"),
            Self::External => f.write_str("something outside of Kubernetes changed"),
            Self::Reconfigured => f.write_str("the configuration of the operator changed"),
            Self::DefinitionChanged => f.write_str("the type declares another status"),
            Self::Resumed => f.write_str("the operator is no longer paused"),
            Self::PauseEnded => f.write_str("the pause of the parent has ended"),
            Self::ChildChanged(change) => {
                let ObjectChange { ty, key, from, to } = &**change;
                changed(f, &format_args!("{ty} {key}"), from.as_ref(), to.as_ref())
            }
            Self::RelatedChanged(change) => {
                let ObjectChange { ty, key, from, to } = &**change;
                changed(f, &format_args!("related {ty} {key}"), from.as_ref(), to.as_ref())
            }
            Self::RelatedListed { ty } => write!(f, "related objects of {ty} were listed"),
            Self::Undecodable { ty, key: Some(key) } => write!(f, "{ty} {key} cannot be decoded"),
            Self::Undecodable { ty, key: None } => {
                write!(f, "an object of {ty} cannot be decoded")
            }
            Self::OwnWrites => f.write_str("the previous reconcile wrote children"),
            Self::Resync => f.write_str("the handler requested a resync"),
            Self::Retry => f.write_str("the previous reconcile failed and its backoff has passed"),
            Self::Recheck => {
                f.write_str("the previous reconcile waited for a change that did not happen")
            }
            Self::Slowed => f.write_str("the delay for a flapping object has passed"),
            Self::Calming => f.write_str("checks whether the flapping has stopped"),
            Self::More { count } => write!(f, "{count} more causes"),
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CauseForm::from(self).serialize(serializer)
    }
}

impl JsonSchema for Cause {
    fn schema_name() -> Cow<'static, str> {
        CauseForm::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        CauseForm::json_schema(generator)
    }
}

/// A cause of a reconcile.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cause")]
struct CauseForm<'a> {
    /// The cause in one word.
    reason: &'static str,
    /// The message.
    message: String,
    /// Of the child or related object that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'a str>,
    /// Of the child that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    /// Of the child that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    /// Of the child that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// The version before.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The version now; missing when the object is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

impl<'a> From<&'a Cause> for CauseForm<'a> {
    fn from(cause: &'a Cause) -> Self {
        let (ty, key) = match cause {
            Cause::ChildChanged(change) | Cause::RelatedChanged(change) => {
                (Some(&change.ty), Some(&change.key))
            }
            _ => (None, None),
        };
        let (from, to) = cause.versions();
        Self {
            reason: cause.reason(),
            message: cause.to_string(),
            api_version: ty.map(K8sType::api_version),
            kind: ty.map(K8sType::kind),
            namespace: key.and_then(|key| key.namespace.as_deref()),
            name: key.map(|key| &*key.name),
            from: from.map(ToString::to_string),
            to: to.map(ToString::to_string),
        }
    }
}

fn changed(
    f: &mut fmt::Formatter<'_>,
    what: &dyn fmt::Display,
    from: Option<&ResourceVersion>,
    to: Option<&ResourceVersion>,
) -> fmt::Result {
    match (from, to) {
        (Some(from), Some(to)) => write!(f, "{what} changed from version {from} to {to}"),
        (None, Some(to)) => write!(f, "{what} appeared as version {to}"),
        (Some(from), None) => write!(f, "{what} is gone; its last version was {from}"),
        (None, None) => write!(f, "{what} was created and deleted"),
    }
}

// === Causes ===

impl Causes {
    /// Adds a cause, a command before all others. Changes of one object are merged; beyond the bound
    /// causes are only counted.
    pub(crate) fn add(&mut self, cause: Cause) {
        let mut cause = cause;
        for kept in &mut self.kept {
            match kept.merge(cause) {
                None => return,
                Some(other) => cause = other,
            }
        }
        // Whoever requested the reconcile looks for that, also when an earlier change had to wait.
        let at = if matches!(cause, Cause::Command { .. }) { 0 } else { self.kept.len() };
        self.kept.insert(at, cause);
        if self.kept.len() > MAX_CAUSES {
            self.kept.pop();
            self.omitted += 1;
        }
    }

    /// Takes the collected causes.
    #[must_use]
    pub(crate) fn take(&mut self) -> Vec<Cause> {
        let Self { kept, omitted } = mem::take(self);
        let more = (omitted > 0).then_some(Cause::More { count: omitted });
        kept.into_iter().chain(more).collect()
    }
}

#[cfg(test)]
mod tests;
