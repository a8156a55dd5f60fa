//! The watched types on the board, and those that webhooks read.

use std::collections::BTreeSet;

use super::{Board, Change, TypeSnapshot, TypeState};
use crate::{object::K8sType, store::StoreReader};

impl Board {
    pub(crate) fn add_store(&self, store: StoreReader) {
        let (ty, state) = (store.ty().clone(), TypeState::default());
        self.write().types.insert(ty, TypeSnapshot { store, state });
    }

    /// Removes the cache of a type.
    pub(crate) fn remove_store(&self, ty: &K8sType) {
        let removed = self.write().types.remove(ty);
        self.pulses.remove(&format!("reflector/{}", ty.resource_name()));
        drop(removed);
    }

    pub(crate) fn set_type(&self, ty: &K8sType, state: TypeState) {
        self.update_type(ty, |shown| *shown = state);
    }

    /// Changes the state of the watch of a type. The closure must not call the board.
    pub(crate) fn update_type(&self, ty: &K8sType, change: impl FnOnce(&mut TypeState)) {
        let mut contents = self.write();
        let Some(shown) = contents.types.get_mut(ty) else { return };
        let before = self.feed.has_listeners().then(|| shown.state.clone());
        change(&mut shown.state);
        let is_change = before.is_some_and(|before| before.differs_from(&shown.state));
        let change = is_change.then(|| Change::Type { ty: ty.clone(), state: shown.state.clone() });
        self.notify(&contents, change);
        self.webhook_reads.changed.notify_waiters();
    }

    /// Sets the types that webhooks read, once.
    pub(crate) fn show_webhook_reads(&self, types: BTreeSet<K8sType>) {
        // There is one start.
        let _ = self.webhook_reads.types.set(types);
    }

    /// The types that webhooks read and that are watched.
    pub(crate) fn webhook_reads(&self) -> Vec<TypeSnapshot> {
        let types = self.webhook_reads.types.get().into_iter().flatten();
        types.filter_map(|ty| self.type_state(ty)).collect()
    }

    /// Returns when each type that webhooks read is listed, or cannot be listed.
    pub(crate) async fn webhook_reads_settled(&self) {
        let is_settled = |ty: &TypeSnapshot| ty.store.is_synced() || ty.state.error.is_some();
        loop {
            let changed = self.webhook_reads.changed.notified();
            if self.webhook_reads().iter().all(is_settled) {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt;
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::{board::TypeError, store::Store};

    #[test]
    fn what_webhooks_read_settles_with_the_first_list_or_with_an_error() {
        let (board, pods) = (Board::new(), K8sType::of::<Pod>());
        assert!(board.webhook_reads_settled().now_or_never().is_some(), "they read nothing");
        let store = Store::new(pods.clone(), BTreeSet::new());
        board.add_store(store.reader());
        board.show_webhook_reads([pods.clone()].into());
        let mut settled = pin!(board.webhook_reads_settled());
        board.update_type(&pods, |_| {});
        assert!(settled.as_mut().now_or_never().is_none());
        let forbidden = TypeError { message: "forbidden".to_owned(), permission: None };
        board.update_type(&pods, |state| state.error = Some(forbidden));
        assert!(settled.now_or_never().is_some());
    }
}
