//! Why a reconcile started, as facts.

use std::{borrow::Cow, fmt, mem};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::object::{K8sType, ObjectKey, ResourceVersion};

/// A fact that made a parent run.
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
    /// Somebody asked for a reconcile.
    Command {
        /// Who, if that is known.
        by: Option<Box<str>>,
    },
    /// The operator is no longer paused, and the parent owed a reconcile.
    Resumed,
    /// A child appeared, changed or went.
    ChildChanged(Box<ChildChange>),
    /// The parent or a child changed and cannot be read.
    Undecodable {
        /// Its type.
        ty: K8sType,
        /// Its key, if that can be read.
        key: Option<ObjectKey>,
    },
    /// The reconcile before wrote children.
    OwnWrites,
    /// The time that the handler had asked for was over.
    Resync,
    /// The reconcile before had failed and its backoff was over.
    Retry,
    /// The reconcile before had waited for something, and the longest wait was over.
    Recheck,
    /// What the reconcile before wrote is written again and again, and the wait for it was over.
    Slowed,
    /// What used to be written again and again may have come to rest.
    Calming,
    /// More facts than are kept.
    More {
        /// How many.
        count: usize,
    },
}

/// What happened to a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildChange {
    /// Its type.
    pub ty: K8sType,
    /// Its key.
    pub key: ObjectKey,
    /// The version before; `None` when it appeared.
    pub from: Option<ResourceVersion>,
    /// The version now; `None` when it is gone.
    pub to: Option<ResourceVersion>,
}

/// Collects the facts that arrive between two reconciles; bounded.
#[derive(Debug, Clone, Default)]
pub struct Causes {
    kept: Vec<Cause>,
    omitted: usize,
}

/// As many causes are kept for one reconcile.
const MAX_CAUSES: usize = 8;

// === Cause ===

impl Cause {
    /// The fact in one word.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Restarted => "Restarted",
            Self::ParentChanged { .. } => "ParentChanged",
            Self::ParentDeleted => "ParentDeleted",
            Self::Command { .. } => "Command",
            Self::Resumed => "Resumed",
            Self::ChildChanged(change) if change.to.is_none() => "ChildDeleted",
            Self::ChildChanged(_) => "ChildChanged",
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
            Self::ChildChanged(change) => (change.from.as_ref(), change.to.as_ref()),
            _ => (None, None),
        }
    }

    /// Takes in a later change of the same object; gives it back if it is about something else.
    fn merge(&mut self, later: Self) -> Option<Self> {
        match (self, later) {
            (Self::ParentChanged { to, .. }, Self::ParentChanged { to: newest, .. }) => {
                *to = newest;
                None
            }
            (Self::ChildChanged(change), Self::ChildChanged(later))
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
            Self::ParentDeleted => f.write_str("the parent was deleted"),
            Self::Command { by: Some(by) } => write!(f, "{by} asked for it"),
            Self::Command { by: None } => f.write_str("somebody asked for it"),
            Self::Resumed => f.write_str("the operator is no longer paused"),
            Self::ChildChanged(change) => {
                let ChildChange { ty, key, from, to } = &**change;
                changed(f, &format_args!("{ty} {key}"), from.as_ref(), to.as_ref())
            }
            Self::Undecodable { ty, key: Some(key) } => write!(f, "{ty} {key} cannot be read"),
            Self::Undecodable { ty, key: None } => {
                write!(f, "an object of {ty} cannot be read")
            }
            Self::OwnWrites => f.write_str("the reconcile before wrote children"),
            Self::Resync => f.write_str("the handler had asked for it"),
            Self::Retry => f.write_str("the reconcile before failed and its backoff was over"),
            Self::Recheck => f.write_str("what the reconcile before waited for did not happen"),
            Self::Slowed => f.write_str("what keeps being changed back had waited long enough"),
            Self::Calming => f.write_str("nothing was changed back for a while"),
            Self::More { count } => write!(f, "{count} further facts"),
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

/// A fact that made a parent run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cause")]
struct CauseForm<'a> {
    /// The fact in one word.
    reason: &'static str,
    /// The fact for people.
    message: String,
    /// Of the child that it is about.
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
            Cause::ChildChanged(change) => (Some(&change.ty), Some(&change.key)),
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
        (Some(from), None) => write!(f, "{what} went; its last version was {from}"),
        (None, None) => write!(f, "{what} came and went"),
    }
}

// === Causes ===

impl Causes {
    /// Adds a fact. Changes of one object become one change; beyond a bound facts are only counted.
    pub fn add(&mut self, cause: Cause) {
        let mut cause = cause;
        for kept in &mut self.kept {
            match kept.merge(cause) {
                None => return,
                Some(other) => cause = other,
            }
        }
        if self.kept.len() < MAX_CAUSES {
            self.kept.push(cause);
        } else {
            if let (Some(last), Cause::Command { .. }) = (self.kept.last_mut(), &cause) {
                // Who asked for a reconcile looks for just this.
                *last = cause;
            }
            self.omitted += 1;
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// What was added since the last time.
    #[must_use]
    pub fn take(&mut self) -> Vec<Cause> {
        let Self { kept, omitted } = mem::take(self);
        let more = (omitted > 0).then_some(Cause::More { count: omitted });
        kept.into_iter().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn version(text: &str) -> ResourceVersion {
        ResourceVersion::new(text)
    }

    fn pod(name: &str, from: Option<&str>, to: Option<&str>) -> Cause {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let key = ObjectKey::namespaced("ns", name);
        let (from, to) = (from.map(version), to.map(version));
        Cause::ChildChanged(Box::new(ChildChange { ty, key, from, to }))
    }

    #[test]
    fn changes_of_one_object_become_one_change() {
        let mut causes = Causes::default();
        causes.add(pod("a", Some("1"), Some("2")));
        causes.add(Cause::Resync);
        causes.add(pod("b", None, Some("3")));
        causes.add(pod("a", Some("2"), None));
        causes.add(Cause::Resync);
        let expected = [pod("a", Some("1"), None), Cause::Resync, pod("b", None, Some("3"))];
        assert_eq!(causes.take(), expected);
        assert!(causes.is_empty());
    }

    #[test]
    fn a_thousand_changed_children_are_counted_not_kept() {
        let mut causes = Causes::default();
        for number in 0..1000 {
            causes.add(pod(&number.to_string(), None, Some("1")));
        }
        let kept = causes.take();
        assert_eq!(kept.len(), MAX_CAUSES + 1);
        assert_eq!(kept.last(), Some(&Cause::More { count: 1000 - MAX_CAUSES }));
    }

    #[test]
    fn what_a_person_asked_for_is_kept_among_thousands() {
        let mut causes = Causes::default();
        for number in 0..1000 {
            causes.add(pod(&number.to_string(), None, Some("1")));
        }
        let asked = Cause::Command { by: Some("ada".into()) };
        causes.add(asked.clone());
        assert_eq!(asked.to_string(), "ada asked for it");
        assert!(causes.take().contains(&asked));
    }

    #[test]
    fn a_cause_names_the_object_and_both_versions() {
        let shown = serde_json::to_value(pod("a", Some("1"), Some("2"))).unwrap();
        let expected = json!({
            "reason": "ChildChanged",
            "message": "Pod.v1 ns/a changed from version 1 to 2",
            "apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": "a",
            "from": "1", "to": "2",
        });
        assert_eq!(shown, expected);
        assert_eq!(pod("a", Some("1"), None).reason(), "ChildDeleted");
    }
}
