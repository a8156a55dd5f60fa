//! The cached owners of an object: by its owner references, and by the label with the uid of a parent,
//! where there can be no reference.

use serde::Deserialize;

use crate::{
    board::{Board, TypeSnapshot},
    object::{Object, ObjectKey, Uid},
};

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Reference {
    api_version: String,
    kind: String,
    name: String,
    uid: String,
}

/// The owners; `None` if there may be one with secrets that is not cached.
pub(super) fn owners(board: &Board, object: &Object) -> Option<Vec<Object>> {
    let (types, mut found) = (board.types(), Vec::new());
    let references = object.metadata_text("ownerReferences");
    let references = references.as_deref().unwrap_or("[]");
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
        // The label is meaningful only on types that the operator writes.
        let is_child = config.children.iter().any(|child| child.ty == *object.ty());
        match object.label(&config.labels.parent_uid).filter(|_| is_child) {
            Some(uid) if found.iter().any(|owner| *owner.uid() == Uid::new(&uid)) => {}
            Some(uid) => found.push(with_uid(parents, &Uid::new(&uid))?),
            // Its owner is of a type without a watch, and may itself belong to a parent.
            None if is_lost && found.is_empty() => return None,
            None => {}
        }
    }
    Some(found)
}

/// Whether the schema of a type is known and marks no secrets.
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
