//! Which children of a type may be changed now, so that not too many are unavailable at a time.

use std::collections::HashMap;

use super::{ChildId, Write};
use crate::{
    object::{K8sType, ReadyState},
    operator::{ChildType, Rolling},
};

/// The desired children of one type that are changed a few at a time.
#[derive(Debug, Clone)]
pub(crate) struct Rollout {
    pub(crate) ty: K8sType,
    rolling: Rolling,
    /// In the order of the handler.
    pub(crate) children: Vec<ChildId>,
    indices: HashMap<ChildId, usize>,
}

/// The children of a rollout as they are.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) all: Vec<RolloutChild>,
    allowed: usize,
    /// The unavailable children.
    unavailable: Vec<usize>,
    /// The first updated child that has failed, if the rollout has stopped for that.
    pub(crate) stopped: Option<usize>,
}

/// How a child of a rollout is.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RolloutChild {
    /// Whether it is as desired.
    pub(crate) is_updated: bool,
    /// Whether its change has begun and not ended.
    pub(crate) is_changing: bool,
    /// Whether the server has refused its change: it stays as it is. A missing child that was refused does not
    /// hold up the others: waiting would not create it.
    pub(crate) is_refused: bool,
    /// Whether its change waits for earlier children. It does not keep those from being changed: both would
    /// wait for ever.
    pub(crate) is_behind: bool,
    pub(crate) state: ReadyState,
}

/// Why a child is not changed now. The numbers are indices of children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotYet {
    /// Too many are unavailable; the first of them.
    Behind(usize),
    /// Too many have failed; the first of them.
    Stopped(usize),
}

impl Rollout {
    /// The rollouts of an operator, each with the desired children of its type.
    pub(super) fn of(types: &[ChildType], writes: &[Write]) -> Vec<Self> {
        let of_type = |ChildType { ty, config }: &ChildType| {
            let (children, indices) = <_>::default();
            let mut rollout = Self { ty: ty.clone(), rolling: config.rolling?, children, indices };
            // A child with options of its own may be left out.
            let is_rolled = |write: &&Write| write.id.ty == *ty && write.config.rolling.is_some();
            writes.iter().filter(is_rolled).for_each(|write| rollout.add(write.id.clone()));
            Some(rollout)
        };
        types.iter().filter_map(of_type).collect()
    }

    fn add(&mut self, child: ChildId) {
        self.indices.insert(child.clone(), self.children.len());
        self.children.push(child);
    }

    pub(crate) fn index_of(&self, child: &ChildId) -> Option<usize> {
        self.indices.get(child).copied()
    }

    /// Judges the children, given in their order.
    pub(crate) fn judge(&self, all: Vec<RolloutChild>) -> Judgement {
        let counts = |it: &RolloutChild| it.is_unavailable() && !it.is_behind && !it.is_hopeless();
        let unavailable = (0..all.len()).filter(|at| counts(&all[*at])).collect();
        let failed = |it: &RolloutChild| it.is_updated && it.state == ReadyState::Failed;
        let limit = usize::try_from(self.rolling.stop_after).unwrap_or(usize::MAX);
        let is_stopped = all.iter().filter(|it| failed(it)).count() >= limit
            && all.iter().any(|it| !it.is_updated);
        let stopped = is_stopped.then(|| all.iter().position(failed)).flatten();
        let allowed = self.rolling.allows(all.len());
        Judgement { all, allowed, unavailable, stopped }
    }
}

impl Judgement {
    /// Whether a child may be changed now.
    pub(crate) fn admits(&self, index: usize) -> Result<(), NotYet> {
        let own = self.all.get(index);
        if own.is_some_and(|it| it.is_unavailable() && !it.is_changing) {
            return Ok(());
        }
        if let Some(failed) = self.stopped {
            return Err(NotYet::Stopped(failed));
        }
        let mut others = self.unavailable.iter().filter(|at| **at != index);
        if others.clone().count() < self.allowed {
            return Ok(());
        }
        others.next().map_or(Ok(()), |first| Err(NotYet::Behind(*first)))
    }
}

impl RolloutChild {
    fn is_unavailable(self) -> bool {
        self.is_changing || !self.state.is_good()
    }

    fn is_hopeless(self) -> bool {
        self.is_refused && self.state == ReadyState::Missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout(rolling: Rolling, children: usize) -> Rollout {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        let id = |n: usize| ChildId {
            ty: ty.clone(),
            key: crate::object::ObjectKey::namespaced("ns", &n.to_string()),
        };
        let mut rollout =
            Rollout { ty: ty.clone(), rolling, children: Vec::new(), indices: HashMap::new() };
        (0..children).for_each(|n| rollout.add(id(n)));
        rollout
    }

    /// `o` old and ready, `n` new and ready, lower case; `O`, `N`: not ready; `X`: new and failed; `F`: old and
    /// failed; `c`: its change is in flight; `-`: missing; `w`: missing, and waits for others; refused: `r` ready, `R`
    /// not ready, `x` missing.
    fn children(text: &str) -> Vec<RolloutChild> {
        let of = |letter| {
            let state = match letter {
                'o' | 'n' | 'c' | 'r' => ReadyState::Ready,
                'X' | 'F' => ReadyState::Failed,
                '-' | 'w' | 'x' => ReadyState::Missing,
                _ => ReadyState::Progressing,
            };
            let is_updated = matches!(letter, 'n' | 'N' | 'X');
            let (is_changing, is_behind) = (letter == 'c', letter == 'w');
            let is_refused = matches!(letter, 'r' | 'R' | 'x');
            RolloutChild { is_updated, is_changing, is_refused, is_behind, state }
        };
        text.chars().map(of).collect()
    }

    #[test]
    fn a_ready_child_is_changed_only_while_few_enough_are_unavailable() {
        use NotYet::{Behind, Stopped};
        let (one, two) = (Rolling::max_unavailable(1), Rolling::max_unavailable(2));
        for (rolling, text, index, expected) in [
            (one, "oooo", 0, Ok(())),
            (one, "cooo", 1, Err(Behind(0))),
            (one, "Nooo", 1, Err(Behind(0))),
            (one, "nooo", 1, Ok(())),
            // One that is not ready anyway.
            (one, "NoOo", 2, Ok(())),
            (one, "NoFo", 2, Ok(())),
            (one, "noOo", 1, Err(Behind(2))),
            // One that is missing is created at once, and counts.
            (one, "-ooo", 1, Err(Behind(0))),
            // Unless it waits for the others.
            (one, "wooo", 1, Ok(())),
            (one, "wcoo", 2, Err(Behind(1))),
            // The server refuses to change or create it.
            (one, "rooo", 1, Ok(())),
            (one, "xooo", 1, Ok(())),
            (one, "Rooo", 1, Err(Behind(0))),
            (one, "rcoo", 2, Err(Behind(1))),
            (two, "Nooo", 1, Ok(())),
            (two, "Ncoo", 2, Err(Behind(0))),
            (two.stopping_after(1), "Xooo", 1, Err(Stopped(0))),
            (two.stopping_after(2), "Xooo", 1, Ok(())),
            (two.stopping_after(2), "XXoo", 2, Err(Stopped(0))),
            // A failed child of the old state stops nothing.
            (two, "Fooo", 1, Ok(())),
            (Rolling::max_unavailable_percent(50), "Nooo", 1, Ok(())),
            (Rolling::max_unavailable_percent(50), "NNoo", 2, Err(Behind(0))),
            (Rolling::max_unavailable_percent(10), "oooo", 2, Ok(())),
        ] {
            let (all, rollout) = (children(text), rollout(rolling, text.len()));
            assert_eq!(rollout.judge(all).admits(index), expected, "{text} {index} {rolling:?}");
        }
    }

    #[test]
    fn a_rollout_that_is_complete_has_not_stopped() {
        let one = rollout(Rolling::max_unavailable(1), 2);
        assert_eq!(one.judge(children("Xn")).stopped, None);
        assert_eq!(one.judge(children("Xo")).stopped, Some(0));
    }
}
