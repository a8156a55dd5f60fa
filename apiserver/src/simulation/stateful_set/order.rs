//! What a `StatefulSet` does next: in order, or all at once with `podManagementPolicy: Parallel`.

use jiff::Timestamp;
use serde_json::Value;

use super::identity::ordinal;
use crate::simulation::{
    decision::Decision,
    object::{is_deleting, number, replicas, text},
    readiness::{count, has_ended, is_available, is_ready},
    revisions::HASH,
};

/// One step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step<'a> {
    /// Creates the Pod of an ordinal.
    Create {
        /// Which Pod.
        ordinal: i64,
        /// Whether it is of the newest revision.
        is_updated: bool,
    },
    /// Deletes a Pod.
    Delete(&'a Value),
}

/// A set with its Pods and the names of its revisions.
#[derive(Debug)]
pub(super) struct Order<'a, 's> {
    /// The set.
    pub set: &'s Value,
    /// Its Pods.
    pub pods: &'s [&'a Value],
    /// The revision that it comes from.
    pub current: &'s str,
    /// The revision that it goes to.
    pub newest: &'s str,
}

impl<'a> Order<'a, '_> {
    /// The steps to take now.
    pub(super) fn steps(&self, now: Timestamp, decision: &mut Decision) -> Vec<Step<'a>> {
        let mut steps = Vec::new();
        let all_run = self.fill(&mut steps, now, decision);
        if !all_run && self.is_ordered() {
            return steps;
        }
        let is_small = self.shrink(&mut steps, now, decision);
        if is_small && steps.is_empty() {
            steps.extend(self.update(now, decision));
        }
        steps
    }

    /// Creates the Pods that are missing; returns whether all of them run.
    fn fill(&self, steps: &mut Vec<Step<'a>>, now: Timestamp, decision: &mut Decision) -> bool {
        let mut all_run = true;
        for ordinal in self.range() {
            match self.pod(ordinal) {
                None => {
                    let is_updated = self.is_updated(ordinal);
                    steps.push(Step::Create { ordinal, is_updated });
                }
                Some(pod) if has_ended(pod) && !is_deleting(pod) => steps.push(Step::Delete(pod)),
                Some(pod) if self.runs(pod, now, decision) => continue,
                Some(_) => {}
            }
            all_run = false;
            if self.is_ordered() {
                return false;
            }
        }
        all_run
    }

    /// Deletes the Pods beyond the replicas, the last first; returns whether there are none.
    fn shrink(&self, steps: &mut Vec<Step<'a>>, now: Timestamp, decision: &mut Decision) -> bool {
        let range = self.range();
        let beyond = |pod: &&&Value| ordinal(self.set, pod).is_some_and(|it| !range.contains(&it));
        let mut condemned: Vec<&Value> = self.pods.iter().filter(beyond).copied().collect();
        condemned.sort_by_key(|pod| std::cmp::Reverse(ordinal(self.set, pod)));
        let first_unhealthy =
            condemned.iter().rev().find(|pod| !self.runs(pod, now, decision)).copied();
        for pod in &condemned {
            if is_deleting(pod) {
                if self.is_ordered() {
                    return false;
                }
                continue;
            }
            let waits = self.is_ordered()
                && first_unhealthy.is_some_and(|first| !std::ptr::eq(first, *pod))
                && !self.runs(pod, now, decision);
            if waits {
                return false;
            }
            steps.push(Step::Delete(pod));
            if self.is_ordered() {
                return false;
            }
        }
        condemned.is_empty()
    }

    /// Deletes the last Pod of another revision, if those after it run.
    fn update(&self, now: Timestamp, decision: &mut Decision) -> Option<Step<'a>> {
        let strategy = &self.set["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return None;
        }
        let range = self.range();
        let least = range.start + number(&strategy["rollingUpdate"]["partition"]);
        for ordinal in (least..range.end).rev() {
            let pod = self.pod(ordinal)?;
            let is_old = text(&pod["metadata"]["labels"][HASH]) != self.newest;
            if is_old && !is_deleting(pod) {
                return Some(Step::Delete(pod));
            }
            if is_old || !self.runs(pod, now, decision) {
                return None;
            }
        }
        None
    }

    /// The ordinals of the replicas.
    fn range(&self) -> std::ops::Range<i64> {
        let start = number(&self.set["spec"]["ordinals"]["start"]);
        start..start + replicas(self.set)
    }

    fn pod(&self, wanted: i64) -> Option<&'a Value> {
        self.pods.iter().copied().find(|pod| ordinal(self.set, pod) == Some(wanted))
    }

    fn runs(&self, pod: &Value, now: Timestamp, decision: &mut Decision) -> bool {
        is_ready(pod) && !is_deleting(pod) && is_available(pod, self.set, now, decision)
    }

    /// Whether a new Pod is of the newest revision: those before the partition are not, and those that a rollout
    /// has not come to.
    fn is_updated(&self, ordinal: i64) -> bool {
        let strategy = &self.set["spec"]["updateStrategy"];
        if self.current == self.newest || strategy["type"] == "OnDelete" {
            return true;
        }
        let start = self.range().start;
        match strategy["rollingUpdate"]["partition"].as_i64() {
            Some(partition) if partition > 0 => ordinal >= start + partition,
            _ => {
                ordinal
                    >= start + count(self.pods.iter().filter(|pod| self.is_current(pod)).count())
            }
        }
    }

    fn is_current(&self, pod: &Value) -> bool {
        text(&pod["metadata"]["labels"][HASH]) == self.current && !is_deleting(pod)
    }

    fn is_ordered(&self) -> bool {
        self.set["spec"]["podManagementPolicy"] != "Parallel"
    }
}
