//! From the first conditions of the watches to the first reconciles.
//!
//! ```text
//! Awaited --all are listed--> Full
//!    |                         ^
//!    | a child type is refused: requires manual intervention
//!    v                         |
//! OfStatuses --all are listed--+
//! ```
//!
//! No handler is called before every type is listed, because children would seem to be deleted. In
//! `OfStatuses` the status of each parent reports why.

use super::{OperatorActor, Start, Watched};
use crate::{
    actors::{
        mailbox::Receive,
        messages::{WatchChanged, WatchCondition},
    },
    history::Cause,
    schedule::Trigger,
    store::StoreReader,
};

impl Receive<WatchChanged> for OperatorActor {
    const ALWAYS: bool = true;

    fn receive(&mut self, changed: WatchChanged, _: &mut Self::Context) {
        self.related_watch_changed(&changed);
        let WatchChanged { watched, condition } = changed;
        let Some(known) = self.watches.get_mut(&watched) else { return };
        *known = condition;
        if watched.ty == *self.parts.parents.ty() {
            self.parts.context.forget_schema();
            self.read_schema_ahead();
        }
        self.apply_when_listed();
        if self.start != Start::Full {
            self.start_when_listed();
        }
        self.show_state();
    }
}

impl OperatorActor {
    pub(super) fn start_when_listed(&mut self) {
        if self.supervision.is_down {
            return;
        }
        if self.are_listed(|_| true) {
            self.parts.context.set_unavailable(None);
            self.reconcile_all(Start::Full);
            self.report_undecodable();
        } else if let Some(refused) = self.refused().filter(|_| self.are_parents_listed())
            && self.parts.context.set_unavailable(Some(refused))
        {
            self.reconcile_all(Start::OfStatuses);
        }
    }

    pub(super) fn are_listed(&self, which: impl Fn(&Watched) -> bool) -> bool {
        let mut conditions = self.watches.iter().filter(|(watched, _)| which(watched));
        conditions.all(|(_, at)| *at == WatchCondition::Synced)
    }

    fn are_parents_listed(&self) -> bool {
        self.are_listed(|watched| watched.ty == *self.parts.parents.ty())
    }

    /// Why listing types requires manual intervention.
    fn refused(&self) -> Option<String> {
        let why = |condition: &WatchCondition| match condition {
            WatchCondition::Refused(why) => Some(why.clone()),
            WatchCondition::Failing(_) | WatchCondition::Pending | WatchCondition::Synced => None,
        };
        let refused: Vec<String> = self.watches.values().filter_map(why).collect();
        (!refused.is_empty()).then(|| refused.join("; "))
    }

    /// Triggers all parents. Those that reported the refusal do not wait for their next check.
    fn reconcile_all(&mut self, start: Start) {
        let trigger = if self.start == Start::Awaited { Trigger::Listed } else { Trigger::Parent };
        self.start = start;
        let mut parents = self.parts.parents.list();
        parents.retain(|parent| self.parts.context.answers_for(parent));
        for parent in parents {
            let trigger = if parent.is_deleting() { Trigger::Deletion } else { trigger };
            self.parent_is(&parent, trigger, Cause::Restarted);
        }
    }

    fn report_undecodable(&self) {
        let readers = [&self.parts.parents].into_iter().chain(&self.parts.children);
        for object in readers.flat_map(StoreReader::undecodable) {
            self.undecodable(object);
        }
    }

    /// Reads the schema of the parents' status while the children are listed. Otherwise all first reconciles
    /// would wait for it.
    fn read_schema_ahead(&self) {
        if self.are_parents_listed() {
            let context = self.parts.context.clone();
            self.parts.runtime.spawn(async move { context.read_schema_ahead().await });
        }
    }
}
