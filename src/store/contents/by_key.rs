//! An object in a set, found by its key.

use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
};

use crate::object::{Object, ObjectKey};

/// An object that is found by its key, without a second copy of the key.
#[derive(Debug)]
pub(super) struct ByKey(pub(super) Object);

impl Borrow<ObjectKey> for ByKey {
    fn borrow(&self) -> &ObjectKey {
        self.0.key()
    }
}

impl Hash for ByKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key().hash(state);
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl Eq for ByKey {}
