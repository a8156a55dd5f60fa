//! The fields that managers own of an object, as far as operators need them: the fields that operators
//! wrote to the object and to its status, and the other operators that applied it.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    packed::Text,
    passed_over::PassedOver,
    sample::Own,
    samples::Samples,
    shared::{Shared, one_of},
};
use crate::object::{FieldSet, K8sType, Uid};

/// The field managers whose entries in `metadata.managedFields` are kept; all others are dropped.
///
/// The kept entries are shared by all objects with the same fields. The children of one type mostly
/// have the same, except for the uid of their controller. Cheap to clone: clones share too.
#[derive(Debug, Clone, Default)]
pub struct KeptManagers(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    names: RwLock<Names>,
    passed_over: RwLock<PassedOver>,
    texts: Mutex<Shared<str>>,
    entries: Mutex<Shared<[KeptEntry]>>,
    samples: Samples,
}

#[derive(Debug, Default)]
struct Names {
    managers: BTreeSet<String>,
    /// The members of `fieldsV1` that only operators own: the labels with the uid of a parent.
    marks: BTreeSet<String>,
}

/// The kept entries of one object, with [`CONTROLLER`] for the uid of its controller.
#[derive(Debug, Clone, Default)]
pub(super) struct ManagedFields {
    kept: Option<Arc<[KeptEntry]>>,
    /// What all managers own, as a hash; the entries are shared by many objects.
    of_all: u64,
}

/// What is kept of an entry.
#[derive(Debug, PartialEq, Eq, Hash)]
struct KeptEntry {
    manager: Box<str>,
    what: KeptWrite,
}

/// What a field manager did to the object itself.
#[derive(Debug, PartialEq, Eq, Hash)]
enum KeptWrite {
    /// It applied the object.
    Applied(Applied),
    /// It wrote the object in another way.
    Updated,
    /// It applied the status.
    StatusApplied(Applied),
    /// It wrote the status in another way.
    Status(Applied),
    /// It is not one of the kept managers, and wrote after them.
    ChangedSince,
}

/// What a field manager applied: equal when the texts are.
#[derive(Debug)]
struct Applied {
    /// Its `fieldsV1`.
    text: Box<str>,
    /// The same, parsed once for many objects that share it: a start reads all of them.
    read: OnceLock<FieldSet>,
}

/// One of the entries of `metadata.managedFields`, as the server sends it.
#[derive(Deserialize)]
pub(super) struct Entry<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
    #[serde(borrow, default)]
    operation: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    time: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "fieldsV1")]
    fields: Option<&'a RawValue>,
}

/// Replaces the uid of the controller: an owner reference is owned under that uid, and the entry
/// could not be shared otherwise. It is the JSON form of the `CONTROLLER` of `field_set`.
const CONTROLLER: &str = "\\u0000";

/// Parsed fields take ten times the memory of their text: they are kept where so many objects share
/// them.
const MANY: usize = 64;

impl KeptManagers {
    /// Keeps the entries of these managers.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let kept = Self::default();
        kept.keep(names);
        kept
    }

    /// Keeps the entries of these managers too, in objects that are read from now on. Returns whether their entries were
    /// dropped before: then the caller reads the objects again that need them.
    pub(crate) fn keep<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> bool {
        let mut known = self.0.names.write().unwrap_or_else(PoisonError::into_inner);
        let passed_over = self.0.passed_over.read().unwrap_or_else(PoisonError::into_inner);
        let mut were_dropped = false;
        for name in names.into_iter().map(Into::into) {
            let was_dropped = passed_over.includes(&name);
            were_dropped |= known.managers.insert(name) && was_dropped;
        }
        were_dropped
    }

    /// The same, and keeps what other managers applied with one of these labels.
    #[must_use]
    pub fn with_labels_of_operators<L: AsRef<str>>(
        self,
        labels: impl IntoIterator<Item = L>,
    ) -> Self {
        self.keep_labels(labels);
        self
    }

    /// Keeps what other managers applied with one of these labels too: they are operators of other
    /// processes, or may be registered later. Returns whether such entries may have been dropped before.
    pub(crate) fn keep_labels<L: AsRef<str>>(&self, labels: impl IntoIterator<Item = L>) -> bool {
        let mut known = self.0.names.write().unwrap_or_else(PoisonError::into_inner);
        let passed_over = self.0.passed_over.read().unwrap_or_else(PoisonError::into_inner);
        let marks = labels.into_iter().map(|label| format!("\"f:{}\"", label.as_ref()));
        let new = marks.filter(|mark| known.marks.insert(mark.clone())).count();
        new > 0 && !passed_over.is_empty()
    }

    pub(super) fn reduce(
        &self,
        entries: Vec<Entry<'_>>,
        controller: Option<&Uid>,
    ) -> ManagedFields {
        let names = self.0.names.read().unwrap_or_else(PoisonError::into_inner);
        let is_kept = |entry: &Entry<'_>| names.managers.contains(entry.manager.as_ref());
        // While the names are locked: a manager is kept from now on, or known to have been passed over.
        entries.iter().filter(|entry| !is_kept(entry)).for_each(|entry| self.pass_over(entry));
        let (of_status, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(Entry::is_of_status);
        let of_status: Vec<_> =
            of_status.iter().filter(|it| is_kept(it)).filter_map(Entry::keep_status).collect();
        let of_all = of_all(&entries);
        let (mut kept, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_kept);
        kept.retain(Entry::is_of_object);
        let marked = others.iter().filter(|entry| names.are_marked(entry));
        let by_operators: Vec<_> = marked.filter_map(|entry| entry.keep(controller)).collect();
        if kept.is_empty() && by_operators.is_empty() {
            let kept = (!of_status.is_empty()).then(|| one_of(&self.0.entries, of_status));
            return ManagedFields { kept, of_all: 0 };
        }
        let kept_entries = kept.iter().filter_map(|entry| entry.keep(controller));
        let entries = kept_entries.chain(changed_since(&kept, &others));
        let entries: Vec<_> = entries.chain(by_operators).chain(of_status).collect();
        let kept = Some(one_of(&self.0.entries, entries));
        ManagedFields { kept, of_all }
    }

    fn pass_over(&self, entry: &Entry<'_>) {
        let known = || self.0.passed_over.read().unwrap_or_else(PoisonError::into_inner);
        if !known().includes(&entry.manager) {
            let mut known = self.0.passed_over.write().unwrap_or_else(PoisonError::into_inner);
            known.add(&entry.manager);
        }
    }

    /// The shared copy of a text that many objects have.
    pub(super) fn share(&self, text: &str) -> Arc<str> {
        one_of(&self.0.texts, text)
    }

    /// The text of an object, without what it has in common with others of its type.
    pub(super) fn store(&self, ty: &K8sType, text: String, own: &Own) -> Text {
        self.0.samples.store(ty, text, own)
    }
}

impl Names {
    /// Whether an operator that is not known applied the object.
    fn are_marked(&self, entry: &Entry<'_>) -> bool {
        let has = |fields: &RawValue| self.marks.iter().any(|mark| fields.get().contains(mark));
        entry.operation == "Apply" && entry.is_of_object() && entry.fields.is_some_and(has)
    }
}

impl ManagedFields {
    /// The `fieldsV1` of a manager's server-side apply to an object with this controller.
    pub(super) fn applied_by(&self, manager: &str, controller: Option<&Uid>) -> Option<FieldSet> {
        let kept = self.kept.as_ref()?;
        let applied = kept.iter().find_map(|entry| match &entry.what {
            KeptWrite::Applied(applied) if *entry.manager == *manager => Some(applied),
            _ => None,
        })?;
        let fields = applied.fields(Arc::strong_count(kept) >= MANY)?;
        Some(controller.map_or_else(|| fields.clone(), |uid| fields.of(uid)))
    }

    /// Whether another operator applied the object too.
    pub(super) fn is_applied_by_another(&self, manager: &str) -> bool {
        let is_it = |entry: &KeptEntry| {
            matches!(entry.what, KeptWrite::Applied(_)) && *entry.manager != *manager
        };
        self.entries().iter().any(is_it)
    }

    /// What a manager owns of the status, for each way in which it wrote it.
    pub(super) fn status_of(&self, manager: &str) -> Vec<FieldSet> {
        let of_status = |entry: &KeptEntry| match &entry.what {
            KeptWrite::Status(written) | KeptWrite::StatusApplied(written)
                if *entry.manager == *manager =>
            {
                written.fields(false)
            }
            _ => None,
        };
        let fields = self.entries().iter().filter_map(of_status);
        fields.filter_map(|fields| fields.field("status").cloned()).collect()
    }

    /// The `fieldsV1` of a manager's server-side apply to the status.
    pub(super) fn status_applied_by(&self, manager: &str) -> Option<FieldSet> {
        self.entries().iter().find_map(|entry| match &entry.what {
            KeptWrite::StatusApplied(applied) if *entry.manager == *manager => {
                applied.fields(false)
            }
            _ => None,
        })
    }

    pub(super) fn has_update_by(&self, manager: &str) -> bool {
        let is_it =
            |entry: &KeptEntry| entry.what == KeptWrite::Updated && *entry.manager == *manager;
        self.entries().iter().any(is_it)
    }

    /// The manager that changed the object after the kept ones.
    pub(super) fn changed_by(&self) -> Option<&str> {
        let is_it = |entry: &&KeptEntry| entry.what == KeptWrite::ChangedSince;
        self.entries().iter().find(is_it).map(|entry| &*entry.manager)
    }

    /// Whether the same is kept of the same entries.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_shared = match (&self.kept, &other.kept) {
            (Some(one), Some(another)) => Arc::ptr_eq(one, another),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.of_all == other.of_all && (is_shared || self.entries() == other.entries())
    }

    /// What all managers own, as a hash that only shows whether it is the same.
    pub(super) fn of_all(&self) -> u64 {
        self.of_all
    }

    fn entries(&self) -> &[KeptEntry] {
        self.kept.as_deref().unwrap_or_default()
    }
}

impl Applied {
    fn new(text: Box<str>) -> Self {
        Self { text, read: OnceLock::new() }
    }

    fn fields(&self, is_kept: bool) -> Option<FieldSet> {
        if let Some(fields) = self.read.get() {
            return Some(fields.clone());
        }
        let fields = FieldSet::parse(&self.text).ok()?;
        Some(if is_kept { self.read.get_or_init(|| fields).clone() } else { fields })
    }
}

impl PartialEq for Applied {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Applied {}

impl Hash for Applied {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// The last of the others, if it wrote later than all kept managers, with the precision of seconds.
/// All times have the same form, so that they compare as texts.
fn changed_since(kept: &[Entry<'_>], others: &[Entry<'_>]) -> Option<KeptEntry> {
    let last = kept.iter().filter_map(|entry| entry.time.as_deref()).max();
    let other = others.iter().max_by(|a, b| a.time.cmp(&b.time))?;
    let is_later = other.time.is_some() && other.time.as_deref() >= last;
    let manager = Box::from(&*other.manager);
    is_later.then_some(KeptEntry { manager, what: KeptWrite::ChangedSince })
}

/// In any order of the entries. Times do not count: writing the same again changes them too.
fn of_all(entries: &[Entry<'_>]) -> u64 {
    let owned = |entry: &Entry<'_>| {
        let mut hasher = DefaultHasher::new();
        let fields = entry.fields.map(RawValue::get);
        (&entry.manager, &entry.operation, fields).hash(&mut hasher);
        hasher.finish()
    };
    entries.iter().map(owned).fold(0, u64::wrapping_add)
}

impl Entry<'_> {
    /// `None` for an apply without fields.
    fn keep(&self, controller: Option<&Uid>) -> Option<KeptEntry> {
        let what = match self.operation.as_ref() {
            "Apply" => KeptWrite::Applied(Applied::new(shareable(self.fields?.get(), controller))),
            _ => KeptWrite::Updated,
        };
        Some(KeptEntry { manager: Box::from(&*self.manager), what })
    }

    fn keep_status(&self) -> Option<KeptEntry> {
        let fields = Applied::new(self.fields?.get().into());
        let what = match self.operation.as_ref() {
            "Apply" => KeptWrite::StatusApplied(fields),
            _ => KeptWrite::Status(fields),
        };
        Some(KeptEntry { manager: Box::from(&*self.manager), what })
    }

    /// Writes of others through other subresources (`scale`) change the object itself.
    fn is_of_status(&self) -> bool {
        self.subresource.as_deref() == Some("status")
    }

    fn is_of_object(&self) -> bool {
        self.subresource.as_deref().is_none_or(str::is_empty)
    }
}

/// The same `fieldsV1` for the children of all controllers.
fn shareable(fields: &str, controller: Option<&Uid>) -> Box<str> {
    match controller {
        Some(uid) => {
            fields.replace(&format!("\\\"{uid}\\\""), &format!("\\\"{CONTROLLER}\\\"")).into()
        }
        None => fields.into(),
    }
}

#[cfg(test)]
mod tests;
