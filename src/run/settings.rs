//! The settings that all reconciles of one operator share: its configuration, and predicates on objects
//! derived from it. Pure.

use super::sibling::Sibling;
use crate::{
    object::{K8sType, Object, Undecodable},
    operator::{Children, ConditionNames, ConfigError, OperatorConfig, OperatorName, Selection},
    plan::{self, Calm},
    reply::ApiError,
    schedule::{Backoff, Policy},
};

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Settings {
    config: OperatorConfig,
    name: OperatorName,
    selection: Selection,
    /// Whether the handler implements `finalize`.
    pub(crate) has_finalizer: bool,
    pub(crate) needs_finalizer: bool,
    sees_all_parents: bool,
    /// Whether the operator goes: it selects no parent any more.
    is_finalizing: bool,
}

impl Settings {
    /// The settings of an operator; given whether its handler finalizes.
    ///
    /// # Errors
    /// When the configuration cannot work.
    pub(crate) fn new(config: OperatorConfig, has_finalizer: bool) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            name: config.operator_name()?,
            selection: config.selection()?,
            has_finalizer,
            needs_finalizer: config.needs_finalizer(has_finalizer),
            sees_all_parents: config.sees_all_parents(has_finalizer),
            is_finalizing: false,
            config,
        })
    }

    /// The settings of an operator that is removed: no parent is selected any more.
    pub(crate) fn finalizing(&self) -> Self {
        Self { is_finalizing: true, ..self.clone() }
    }

    pub(crate) fn config(&self) -> &OperatorConfig {
        &self.config
    }

    /// The operator's name: its field manager.
    pub(crate) fn name(&self) -> &OperatorName {
        &self.name
    }

    pub(crate) fn policy(&self) -> Policy {
        let config = &self.config;
        let backoff = Backoff { min: config.min_error_backoff, max: config.max_error_backoff };
        Policy { backoff, debounce: config.debounce }
    }

    pub(crate) fn calm(&self) -> Calm {
        Calm::new(self.policy().backoff)
    }

    /// Whether a cached parent belongs to the operator. The watch may show other objects of the type. A parent that
    /// left the selection belongs to the operator until it is finalized.
    pub(crate) fn answers_for(&self, parent: &Object) -> bool {
        let has_ours = || self.holds_ours(parent) || self.is_decorated(parent);
        self.selects(parent) || (self.selection.is_here(parent) && has_ours())
    }

    /// Whether an undecodable object may be a parent of the operator.
    pub(crate) fn may_answer_for(&self, object: &Undecodable) -> bool {
        !self.is_finalizing && self.selection.may_select(object)
    }

    /// Whether a decorator has to remove what it added to a parent, which stays.
    pub(crate) fn takes_leave(&self, parent: &Object) -> bool {
        self.config.is_decorator() && !parent.is_deleting() && !self.selects(parent)
    }

    /// Whether a parent has something that a decorator put on it.
    fn is_decorated(&self, parent: &Object) -> bool {
        let name = &self.config.name;
        self.config.is_decorator()
            && (parent.applied_fields(name).is_some() || parent.applied_status(name).is_some())
    }

    /// Whether a parent is leaving: it is terminating, or no longer selected.
    pub(crate) fn is_leaving(&self, parent: &Object) -> bool {
        parent.is_deleting() || !self.selects(parent)
    }

    pub(crate) fn selects(&self, parent: &Object) -> bool {
        !self.is_finalizing && self.selection.selects(parent)
    }

    pub(crate) fn holds(&self, parent: &Object) -> bool {
        parent.finalizers().contains(&self.config.finalizer_name())
    }

    /// Whether a leaving parent waits for us: it has our finalizer or, if it is terminating, one of the
    /// predecessor. A predecessor may never have managed a parent that is only not selected.
    pub(crate) fn holds_ours(&self, parent: &Object) -> bool {
        let former = &self.config.predecessor.finalizers;
        self.holds(parent)
            || (parent.is_deleting()
                && parent.finalizers().iter().any(|held| former.contains(held)))
    }

    /// Whether its parents are of this type, in any version.
    pub(crate) fn is_for(&self, ty: &K8sType) -> bool {
        let own = &self.config.parent;
        own.group() == ty.group() && own.kind() == ty.kind()
    }

    /// What the operator is for the others of a parent of this type; `None` if it does not answer for it.
    pub(crate) fn as_sibling(&self, parent: &Object) -> Option<Sibling> {
        (self.config.writes_status() && self.answers_for(parent)).then(|| Sibling {
            name: self.config.name.clone(),
            has_conditions: !self.config.shares_status(),
        })
    }

    /// The operators of a parent beside this one, given those of the process.
    pub(crate) fn beside(&self, mut siblings: Vec<Sibling>) -> Vec<Sibling> {
        let has_conditions = !self.config.shares_status();
        let elsewhere = self.config.beside.iter().cloned();
        siblings.extend(elsewhere.map(|name| Sibling { name, has_conditions }));
        siblings
    }

    /// The types of its conditions in the status of a parent that these operators have too.
    pub(crate) fn condition_names(&self, siblings: &[Sibling]) -> ConditionNames {
        let is_prefixed = siblings.iter().any(|other| other.has_conditions);
        ConditionNames::new(&self.config.name, is_prefixed)
    }

    pub(crate) fn is_ours(&self, parent: &Object, child: &Object) -> bool {
        plan::is_ours(&self.config, &self.name, parent, child)
    }

    /// The children of a parent among the objects that refer to it, of every declared type.
    pub(crate) fn ours(&self, parent: &Object, observed: &Children) -> Children {
        let of_type = |ty: &K8sType| {
            let children = observed.of_type(ty).iter();
            let ours = children.filter(|child| self.is_ours(parent, child));
            (ty.clone(), ours.cloned().collect())
        };
        Children::new(self.config.children.iter().map(|child| of_type(&child.ty)))
    }

    /// Whether a watch covers an object. A watch with a selector never reports the deletion of an object that
    /// does not match.
    pub(crate) fn is_watched(&self, object: &Object) -> bool {
        let is_parent = *object.ty() == self.config.parent;
        (is_parent && (self.sees_all_parents || self.selects(object))) || self.manages(object)
    }

    /// Whether an object has the label of a child of the operator.
    pub(crate) fn manages(&self, object: &Object) -> bool {
        object.label(&self.config.labels.managed_by).as_deref() == Some(&*self.config.name)
    }

    pub(crate) fn unlabelled(&self) -> ApiError {
        ApiError::Unlabelled { label: self.config.labels.managed_by.clone() }
    }
}
