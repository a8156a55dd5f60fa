//! Labels the children of a process that begins to share its parents out: some parents at each heartbeat, each by a reconcile.
//! Without the label a child is found by its owner reference.

use std::time::{Duration, Instant};

use super::{OperatorActor, to_label::ToLabel};
use crate::{
    actors::{mailbox::post, messages::Touched},
    board::BEAT_EVERY,
    history::Cause,
    object::{Object, Uid},
    schedule::Trigger,
};

/// How many children an operator labels in a second, on average.
const PER_SECOND: u64 = 20;

/// How many it labels at a heartbeat. A parent with more delays those that follow.
const PER_BEAT: i64 = (PER_SECOND * BEAT_EVERY.as_secs()).cast_signed();

/// How often the progress is logged.
const SHOWN_EVERY: Duration = Duration::from_secs(10);

impl OperatorActor {
    /// Queues a parent if some of its children lack the label.
    pub(super) fn label_later(&mut self, parent: &Object) {
        let context = &self.parts.context;
        if !context.config().is_sharded || !context.labelling.is_needed() {
            return;
        }
        let children = context.unlabelled(parent);
        if children > 0 {
            self.to_label.parents.push_back((parent.uid().clone(), children));
            self.to_label.children += children;
        }
    }

    /// Labels the children of the next parents, at each heartbeat.
    pub(super) fn label_some(&mut self, now: Instant) {
        self.to_label.spare = (self.to_label.spare + PER_BEAT).min(PER_BEAT);
        while self.to_label.spare > 0 {
            let Some((uid, children)) = self.to_label.parents.pop_front() else { break };
            self.to_label.children = self.to_label.children.saturating_sub(children);
            self.label(&uid, children);
        }
        self.show_labelling(now);
    }

    /// Labels the children of a parent, unless the parent is gone or belongs to another process.
    fn label(&mut self, uid: &Uid, children: usize) {
        let Some(parent) = self.keys.get(uid).and_then(|key| self.parents.get(key)) else { return };
        self.parts.context.labelling.begin(uid);
        let touched = Touched { trigger: Trigger::Asked, cause: Cause::Restarted };
        post(&parent.reconciler, &self.reconcilers.mailbox, touched);
        self.to_label.done += children;
        self.to_label.spare -= i64::try_from(children).unwrap_or(i64::MAX);
    }

    fn show_labelling(&mut self, now: Instant) {
        let ToLabel { children, done, shown, spare, .. } = self.to_label;
        let is_over = children == 0;
        let is_due = shown.is_none_or(|shown| now.duration_since(shown) >= SHOWN_EVERY);
        if done == 0 || !(is_over || is_due) {
            return;
        }
        let operator = self.name();
        tracing::info!(%operator, done, left = children, "labelling children with their bucket");
        self.to_label.shown = Some(now);
        if is_over {
            self.to_label = ToLabel { spare, ..ToLabel::default() };
        }
    }
}
