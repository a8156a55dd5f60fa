//! Whom an object belongs to, as far as that is cached: by its owner references, and by the label with
//! the uid of a parent, where there can be no reference.

use serde::Deserialize;

use crate::{
    board::{Board, TypeSnapshot},
    object::{Object, ObjectKey, Uid},
};

/// An owner reference as far as it is needed.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Reference {
    api_version: String,
    kind: String,
    name: String,
    uid: String,
}

/// The owners; `None` where there is, or may be, one with secrets that cannot be looked
/// at.
pub(super) fn owners(board: &Board, object: &Object) -> Option<Vec<Object>> {
    let (types, mut found) = (board.types(), Vec::new());
    let references = object.metadata_text("ownerReferences").unwrap_or("[]");
    let references: Option<Vec<Reference>> = serde_json::from_str(references).ok()?;
    let mut is_lost = false;
    for reference in references.iter().flatten() {
        match types.iter().find(|ty| reference.is_of(ty)) {
            Some(ty) => match reference.find(ty, object) {
                Some(owner) => found.push(owner),
                None if marks_nothing(ty) => is_lost = true,
                None => return None,
            },
            None => is_lost = true,
        }
    }
    for operator in board.operators() {
        let config = operator.info.config;
        let parents = types.iter().find(|ty| *ty.store.ty() == config.parent);
        let Some(parents) = parents.filter(|parents| !marks_nothing(parents)) else { continue };
        // The label says something of the types only that the operator writes.
        let is_child = config.children.iter().any(|child| child.ty == *object.ty());
        match object.label(&config.labels.parent_uid).filter(|_| is_child) {
            Some(uid) if found.iter().any(|owner| *owner.uid() == Uid::new(&uid)) => {}
            Some(uid) => found.push(with_uid(parents, &Uid::new(&uid))?),
            // It belongs to something that nobody watches and that may belong to a parent, whoever
            // it is that caches its type.
            None if is_lost && found.is_empty() => return None,
            None => {}
        }
    }
    Some(found)
}

/// Whether it is known that the objects of a type have no secrets that are marked.
pub(super) fn marks_nothing(ty: &TypeSnapshot) -> bool {
    ty.secrets().is_some_and(|fields| fields.is_empty())
}

fn with_uid(ty: &TypeSnapshot, uid: &Uid) -> Option<Object> {
    ty.store.objects().into_iter().find(|object| object.uid() == uid)
}

impl Reference {
    fn is_of(&self, ty: &TypeSnapshot) -> bool {
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        let ty = ty.store.ty();
        (ty.group(), ty.kind()) == (group, self.kind.as_str())
    }

    fn find(&self, ty: &TypeSnapshot, child: &Object) -> Option<Object> {
        let namespace = child.namespace().filter(|_| ty.store.ty().is_namespaced());
        let owner = ty.store.get(&ObjectKey::new(namespace, &self.name));
        owner.filter(|owner| *owner.uid() == Uid::new(&self.uid))
    }
}
