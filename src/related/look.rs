//! What a watch and its store know of the objects that are asked for.

use crate::{
    object::{Object, Undecodable},
    operator::Ask,
    store::StoreReader,
};

#[derive(Clone)]
pub(super) struct Feed {
    pub(super) reader: StoreReader,
    pub(super) state: FeedState,
}

/// The state of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FeedState {
    /// Its first list is not complete.
    Pending,
    Synced,
    /// It cannot be read, and why.
    Failing(String),
}

/// What is known of the objects that are asked for.
pub(super) enum Look {
    Objects(Vec<Object>),
    Pending,
    Unavailable(String),
}

impl Feed {
    /// Its store, or why there is none.
    pub(super) fn answer(&self) -> Result<StoreReader, Option<String>> {
        match &self.state {
            FeedState::Synced => Ok(self.reader.clone()),
            FeedState::Pending => Err(None),
            FeedState::Failing(why) => Err(Some(why.clone())),
        }
    }
}

/// What a store knows; an exact one has nothing else.
pub(super) fn read(reader: &StoreReader, ask: &Ask, is_exact: bool) -> Look {
    let undecodable = match ask {
        Ask::Named(key) => reader.undecodable_at(key),
        Ask::Selected(_) => {
            reader.undecodable().into_iter().find(|object| may_include(ask, object))
        }
    };
    if let Some(object) = undecodable {
        return Look::Unavailable(object.to_string());
    }
    Look::Objects(match ask {
        Ask::Named(key) => reader.get(key).into_iter().collect(),
        Ask::Selected(_) if is_exact => reader.objects(),
        Ask::Selected(_) => {
            let mut all = reader.objects();
            all.retain(|object| ask.includes(object));
            all
        }
    })
}

/// Whether an object that cannot be decoded may be selected: unknown values count as matching.
fn may_include(ask: &Ask, object: &Undecodable) -> bool {
    let Ask::Selected(selected) = ask else { return false };
    let namespace = object.key().map(|key| key.namespace.as_deref());
    let is_here = selected.namespace.is_none()
        || namespace.is_none_or(|namespace| namespace == selected.namespace.as_deref());
    let matches = || {
        let labels = object.labels().zip(selected.selector.as_ref());
        labels.is_none_or(|(labels, selector)| selector.matches(labels))
    };
    is_here && matches()
}
