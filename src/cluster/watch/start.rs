//! Where a watch starts: at a list, or where the one before it ended.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    super::{WatchNote, list::PAGE_SIZE},
    End, Loop,
};
use crate::{
    object::{Object, ResourceVersion},
    reply::ApiError,
    store::{ListStart, Settled},
};

/// A backup is not restored in less. A server that is restarted, while another answers or not, takes
/// less as a rule, so that its watches just go on.
const LONG_OUTAGE: Duration = Duration::from_secs(30);

impl<N: Fn(WatchNote) + Send> Loop<N> {
    pub(super) async fn list(&mut self) -> Result<End, ApiError> {
        let start = self.store.begin_list(self.scope);
        let list = match self.cluster.list(&self.spec, self.page_size).await {
            Err(error) => {
                self.ask_for_less(&error).await;
                return Err(error);
            }
            Ok(list) => list,
        };
        self.page_size = (self.page_size * 4).min(PAGE_SIZE);
        self.opened();
        for object in list.undecodable {
            self.leave_out(object);
        }
        self.take_in(start, list.objects, list.version);
        Ok(End::Listed)
    }

    /// Smaller pages do not help with a server that does not answer at all, and of many objects they
    /// would take long when it does again.
    async fn ask_for_less(&mut self, after: &ApiError) {
        if after.is_too_much() && self.cluster.version(&self.spec).await.is_ok() {
            self.page_size = (self.page_size / 4).max(1);
        }
    }

    pub(super) fn take_in(
        &mut self,
        start: ListStart,
        objects: Vec<Object>,
        version: ResourceVersion,
    ) {
        let (changes, settled) = self.store.replace(self.scope, start, objects, &version);
        if settled == Settled::VersionRegressed {
            self.cluster.metrics().version_regressions(&self.spec.ty);
        }
        // Before `Synced`: an operator that starts on it has read the store and needs no changes.
        (self.note)(WatchNote::Changed(changes));
        // That versions went back is not forgotten over a second list.
        if self.settled != Some(Settled::VersionRegressed) {
            self.settled = Some(settled);
        }
        self.from = Some(version);
        (self.mute, self.quick) = (0, 0);
        (self.is_doubtful, self.listed) = (false, Some(Instant::now()));
        // The list is of what came out of it: however quiet the watch is, it goes on from there.
        self.out_since = None;
    }

    /// Says that what was listed is watched. Not before: it would be out of date unnoticed.
    pub(super) fn watched(&mut self) {
        if let Some(settled) = self.settled.take() {
            (self.note)(WatchNote::Synced(settled));
            self.alive();
        }
    }

    /// Watches from the version of a watch that said nothing, or after the server was not to be
    /// reached. A silent watch may have waited for a version that the server has yet to reach again,
    /// because it was restored from a backup, and where something between cuts what is idle no watch
    /// lasts until its silence is noticed. A server that comes back may have lost what it wrote last,
    /// and after long have written as much again, so that our version is one of another history.
    pub(super) async fn watch_again(&mut self, from: ResourceVersion) -> Result<End, ApiError> {
        let version = self.cluster.version(&self.spec).await?;
        (self.answered, self.is_doubtful) = (Some(Instant::now()), false);
        // It answers: what ends the next watch is another outage, however long this one lasts.
        let out_since = self.out_since.take();
        if version.is_older_than(&from) {
            self.store.has_gone_back(self.scope);
            return Ok(End::Gone("version_regressed"));
        }
        if out_since.is_some_and(|since| since.elapsed() > LONG_OUTAGE) {
            return Ok(End::Gone("outage"));
        }
        if self.alive.is_some() {
            self.alive();
        }
        self.stream(Some(from)).await
    }
}
