//! Starts a watch with a list, or from the last version of the previous watch.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    super::{
        WatchNote,
        list::{PAGE_SIZE, Urgency},
    },
    End, Loop,
};
use crate::{
    object::{LabelSelector, Object, ResourceVersion},
    reply::ApiError,
    store::{Change, ListStart, Settled},
};

/// Restoring a backup takes longer. A restart usually takes less, so that the watches just continue.
const LONG_OUTAGE: Duration = Duration::from_secs(30);

impl<N: Fn(WatchNote) + Send> Loop<N> {
    pub(super) async fn list(&mut self) -> Result<End, ApiError> {
        let start = self.store.begin_list(self.scope);
        let urgency = if start.replaces() { Urgency::CanWait } else { Urgency::Urgent };
        let how = (start.listed(), urgency);
        let list = match self.cluster.list(&self.spec, self.page_size, how).await {
            Err(error) => {
                self.reduce_page_size(&error).await;
                return Err(error);
            }
            Ok(list) => list,
        };
        self.page_size = (self.page_size * 4).min(PAGE_SIZE);
        self.opened();
        for object in list.undecodable {
            self.mark_undecodable(object);
        }
        self.receive_list(start, list.objects, list.version);
        Ok(End::Listed)
    }

    /// Reduces the size only if the server answers otherwise: small pages do not help with an unreachable
    /// one, and they make a list of many objects slow.
    async fn reduce_page_size(&mut self, after: &ApiError) {
        if after.is_too_much() && self.cluster.version(&self.spec).await.is_ok() {
            self.page_size = (self.page_size / 4).max(1);
        }
    }

    pub(super) fn receive_list(
        &mut self,
        start: ListStart,
        objects: Vec<Object>,
        version: ResourceVersion,
    ) {
        let _work = self.cluster.metrics().activity().begin();
        let (mut changes, settled) = self.store.replace(self.scope, start, objects, &version);
        changes.extend(self.drop_unselected(&version));
        if settled == Settled::VersionRegressed {
            self.cluster.metrics().version_regressions(&self.spec.ty);
        }
        // Before `Synced`: an operator that starts then has read the store and needs no changes.
        (self.note)(WatchNote::Changed(changes));
        // A second list must not hide that versions regressed.
        if self.settled != Some(Settled::VersionRegressed) {
            self.settled = Some(settled);
        }
        self.from = Some(version);
        (self.idle_streams, self.idle_short_streams) = (0, 0);
        (self.may_have_regressed, self.listed) = (false, Some(Instant::now()));
        // The list shows the state after the outage, even if the watch stays silent.
        self.outage_since = None;
    }

    /// Of a scope that was replaced by a narrower one, newer objects than the list may be cached.
    fn drop_unselected(&self, listed: &ResourceVersion) -> Vec<Change> {
        let labels = self.spec.label_selector.as_deref().map(LabelSelector::parse);
        // The server accepted the selector.
        let labels = labels.and_then(Result::ok);
        let selects = |object: &Object| self.spec.selects(labels.as_ref(), object);
        self.store.drop_unselected(self.scope, listed, &selects)
    }

    /// Notes that the scope is in sync once its watch is open; before that it could become out of date.
    pub(super) fn watched(&mut self) {
        if let Some(settled) = self.settled.take() {
            (self.note)(WatchNote::Synced(settled));
            self.alive();
        }
    }

    /// Watches from the version of a silent watch, or after an outage, if a list of one object shows that
    /// this is possible. A silent watch may wait for a version that a server restored from a backup has
    /// not reached again, and a proxy may end idle watches before the silence timeout. After an outage
    /// the server may have lost its last writes, and after a long one it may have made as many new ones,
    /// so that the version belongs to another history.
    pub(super) async fn resume(&mut self, from: ResourceVersion) -> Result<End, ApiError> {
        let version = self.cluster.version(&self.spec).await?;
        (self.answered, self.may_have_regressed) = (Some(Instant::now()), false);
        // The server answers, so that the end of the next watch begins another outage.
        let outage_since = self.outage_since.take();
        if version.is_older_than(&from) {
            self.store.has_gone_back(self.scope);
            return Ok(End::Gone("version_regressed"));
        }
        if outage_since.is_some_and(|since| since.elapsed() > LONG_OUTAGE) {
            return Ok(End::Gone("outage"));
        }
        if self.alive.is_some() {
            self.alive();
        }
        self.stream(Some(from)).await
    }
}
