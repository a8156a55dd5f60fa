//! Several stores as they were at one revision. No lock is held between two reads, and both see the same.

use super::{StoreReader, revisions::Pin};
use crate::{
    object::{K8sType, Object, ObjectKey, Uid},
    operator::Children,
};

/// The objects of some stores at one revision. Taken in constant time: what changes later is kept as it was until this
/// is dropped.
#[derive(Debug, Default)]
pub(crate) struct Frozen {
    readers: Vec<StoreReader>,
    pin: Option<Pin>,
}

impl Frozen {
    /// Freezes stores that share their revisions, and what else is `read` of them: both are of the same revision.
    pub(crate) fn of<T>(
        readers: Vec<StoreReader>,
        read: impl Fn(&[StoreReader]) -> T,
    ) -> (Self, T) {
        loop {
            let pin = readers.first().map(StoreReader::pin);
            let also = read(&readers);
            if pin.iter().all(|pin| readers.iter().all(|it| it.is_unchanged_since(pin))) {
                return (Self { readers, pin }, also);
            }
        }
    }

    pub(crate) fn get(&self, ty: &K8sType, key: &ObjectKey) -> Option<Object> {
        let (reader, revision) = (self.reader(ty)?, self.pin.as_ref()?.revision);
        reader.read().get_at(revision, key).cloned()
    }

    /// The objects of a type, in no order.
    pub(crate) fn objects(&self, ty: &K8sType) -> Vec<Object> {
        let Some((reader, pin)) = self.reader(ty).zip(self.pin.as_ref()) else { return Vec::new() };
        reader.read().objects_at(pin.revision).cloned().collect()
    }

    /// The objects of these types that name a uid as their controller or in a parent label.
    pub(crate) fn of_parent<'a>(
        &self,
        types: impl Iterator<Item = &'a K8sType>,
        parent: &Uid,
    ) -> Children {
        let of_type = |ty: &K8sType| {
            let objects = self.reader(ty).zip(self.pin.as_ref());
            let objects = objects.map(|(it, pin)| it.read().of_parent_at(pin.revision, parent));
            (ty.clone(), objects.unwrap_or_default())
        };
        Children::new(types.map(of_type))
    }

    /// The Jobs of a parent that had finished when their TTL removed them, also later than this revision.
    pub(crate) fn ended_jobs(&self, parent: &Uid) -> Vec<Object> {
        let jobs = self.readers.iter().filter(|reader| reader.ty().is_job());
        jobs.flat_map(|it| it.read().ended_jobs(parent).cloned().collect::<Vec<_>>()).collect()
    }

    fn reader(&self, ty: &K8sType) -> Option<&StoreReader> {
        self.readers.iter().find(|reader| reader.ty() == ty)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{
        object::{KeptManagers, ResourceVersion},
        schedule::rng::with_seeds,
        store::{Revisions, Store},
    };

    fn types() -> [K8sType; 2] {
        [("ConfigMap", "configmaps"), ("Secret", "secrets")]
            .map(|(kind, plural)| K8sType::namespaced("v1", kind, plural))
    }

    fn object(ty: &K8sType, name: usize, parent: usize, version: u64) -> Object {
        let value = json!({"metadata": {
            "name": format!("o{name}"), "namespace": "ns", "uid": format!("u{name}"),
            "resourceVersion": version.to_string(), "labels": {"by": format!("p{parent}")},
        }});
        Object::from_value(ty, &value, &KeptManagers::default()).unwrap()
    }

    /// All that can be read.
    fn seen(frozen: &Frozen) -> String {
        let types = types();
        let shown = |object: &Object| format!("{} {}", object.name(), object.resource_version());
        let mut all: Vec<_> = types.iter().flat_map(|ty| frozen.objects(ty)).collect();
        all.sort_unstable_by_key(shown);
        let parents = ["p0", "p1"].map(|uid| frozen.of_parent(types.iter(), &Uid::new(uid)));
        all.extend(parents.iter().flat_map(|children| children.iter().cloned()));
        let keys = (0..4).map(|name| ObjectKey::namespaced("ns", &format!("o{name}")));
        all.extend(keys.filter_map(|key| frozen.get(&types[0], &key)));
        all.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn frozen_stores_stay_as_they_were_whatever_changes() {
        with_seeds(20, |mut random| {
            let revisions = Revisions::default();
            let labels = BTreeSet::from(["by".to_owned()]);
            let stores = types().map(|ty| Store::sharing(&revisions, ty, labels.clone()));
            let scopes = [0, 1].map(|of| stores[of].add_scope(None));
            let mut frozen: Vec<(Frozen, String)> = Vec::new();
            for version in 1..300 {
                let of = random.below(2);
                let (name, parent) = (random.below(4), random.below(2));
                let changed = object(stores[of].reader().ty(), name, parent, version);
                if random.once_in(4) {
                    stores[of].observe_deletion(scopes[of], &changed);
                } else {
                    stores[of].observe(scopes[of], changed);
                }
                if random.once_in(3) {
                    let readers = stores.iter().map(Store::reader).collect();
                    let (now, objects) = Frozen::of(readers, |readers| readers[0].len());
                    assert_eq!(now.objects(&types()[0]).len(), objects);
                    let now_seen = seen(&now);
                    frozen.push((now, now_seen));
                }
                if !frozen.is_empty() && random.once_in(3) {
                    let (then, expected) = frozen.swap_remove(random.below(frozen.len()));
                    assert_eq!(seen(&then), expected, "version {version}");
                }
            }
            drop(frozen);
            for (store, scope) in stores.iter().zip(scopes) {
                store.bookmark(scope, &ResourceVersion::Number(999));
                assert_eq!(store.reader().read().kept(), 0, "nothing is kept that nobody reads");
            }
        });
    }
}
