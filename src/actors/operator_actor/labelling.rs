//! Labels the children of a process that begins to share its parents out: some parents a second, each by a reconcile. Without
//! the label a child is found by its owner reference.

use std::time::{Duration, Instant};

use super::{OperatorActor, to_label::ToLabel};
use crate::{
    actors::{mailbox::post, messages::Touched},
    history::Cause,
    object::Object,
    schedule::Trigger,
};

/// How many children an operator labels in a minute.
const PER_MINUTE: usize = 1_200;

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

    /// Labels the children of the next parents, once a second.
    pub(super) fn label_some(&mut self, now: Instant) {
        let mut spare = PER_MINUTE / 60;
        while let Some((uid, children)) = self.to_label.parents.pop_front() {
            self.to_label.children = self.to_label.children.saturating_sub(children);
            if let Some(parent) = self.keys.get(&uid).and_then(|key| self.parents.get(key)) {
                self.parts.context.labelling.begin(&uid);
                let touched = Touched { trigger: Trigger::Asked, cause: Cause::Restarted };
                post(&parent.reconciler, &self.reconcilers.mailbox, touched);
                self.to_label.done += children;
            }
            spare = spare.saturating_sub(children);
            if spare == 0 {
                break;
            }
        }
        self.show_labelling(now);
    }

    fn show_labelling(&mut self, now: Instant) {
        let ToLabel { children, done, shown, .. } = self.to_label;
        let is_over = children == 0;
        let is_due = shown.is_none_or(|shown| now.duration_since(shown) >= SHOWN_EVERY);
        if done == 0 || !(is_over || is_due) {
            return;
        }
        let operator = self.name();
        tracing::info!(%operator, done, left = children, "labelling children with their bucket");
        self.to_label.shown = Some(now);
        if is_over {
            self.to_label = ToLabel::default();
        }
    }
}
