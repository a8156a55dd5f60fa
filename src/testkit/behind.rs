//! What a cache lacks of what the server has listed.

use std::collections::BTreeSet;

use crate::{
    cluster::List,
    object::{Object, ResourceVersion},
    store::StoreReader,
};

/// The objects that the store has in an older version, or not at all, or still.
pub(super) fn behind(list: &List, namespace: Option<&str>, store: &StoreReader) -> Vec<String> {
    let ty = store.ty();
    let is_old = |object: &&Object| {
        let cached = store.get(object.key());
        !cached
            .is_some_and(|cached| is_as_new(cached.resource_version(), object.resource_version()))
    };
    let old = list.objects.iter().filter(is_old);
    let old = old.map(|object| format!("{ty} {} is not cached as it is", object.key()));
    let listed: BTreeSet<_> = list.objects.iter().map(Object::key).collect();
    let undecodable: BTreeSet<_> = list.undecodable.iter().filter_map(|it| it.key()).collect();
    let cached = store.objects();
    let is_gone = |object: &&Object| {
        let (key, is_here) =
            (object.key(), namespace.is_none_or(|it| object.namespace() == Some(it)));
        is_here
            && !listed.contains(key)
            && !undecodable.contains(key)
            && object.resource_version().is_older_than(&list.version)
    };
    let gone = cached.iter().filter(is_gone);
    old.chain(gone.map(|object| format!("{ty} {} is gone, but cached", object.key()))).collect()
}

fn is_as_new(cached: &ResourceVersion, listed: &ResourceVersion) -> bool {
    cached == listed || listed.is_older_than(cached)
}
