//! Filters the changes for a reader.

use std::iter;

use serde::Deserialize;

use super::frame;
use crate::{
    board::{Board, Change, OperatorSnapshot, ParentName},
    object::K8sType,
    operator::OperatorConfig,
    web::{endpoint::Parameter, status::Refused},
};

/// The query of a reader. An absent parameter does not restrict.
#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct EventQuery {
    operator: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    /// Some of [`frame::KINDS`], separated by commas.
    kind: Option<String>,
}

pub(in crate::web) const PARAMETERS: &[Parameter] = &[
    Parameter::text("operator", "only changes of this operator"),
    Parameter::text("namespace", "only changes of parents in this namespace"),
    Parameter::text("name", "only changes of parents with this name"),
    Parameter::text(
        "kind",
        "some of `reconcile`, `phase`, `gone`, `operator` and `type`, separated by commas",
    ),
];

#[derive(Debug)]
pub(super) struct Filter {
    query: EventQuery,
    kinds: Option<Vec<String>>,
    /// The types of the selected operator.
    types: Option<Vec<K8sType>>,
}

impl Filter {
    pub(super) fn new(query: EventQuery, board: &Board) -> Result<Self, Refused> {
        let known =
            |name: &String| board.operator(name).ok_or_else(|| Refused::NoOperator(name.clone()));
        let types = query.operator.as_ref().map(known).transpose()?.map(types_of);
        let kinds = query.kind.as_ref().map(|kinds| kinds.split(',').map(known_kind).collect());
        Ok(Self { kinds: kinds.transpose()?, query, types })
    }

    pub(super) fn wants(&self, change: &Change) -> bool {
        let is_wanted =
            |kinds: &Vec<String>| kinds.iter().any(|kind| kind == frame::kind_of(change));
        let kind = self.kinds.as_ref().is_none_or(is_wanted);
        match change {
            Change::Reconcile { parent, .. }
            | Change::Phase { parent, .. }
            | Change::Gone { parent } => kind && self.wants_parent(parent),
            Change::Operator { operator, .. } => {
                // The state of its operator concerns a parent, too.
                let is_wanted = self.query.operator.is_some() || self.is_of_all_parents();
                kind && self.is_of(operator.as_str()) && is_wanted
            }
            Change::Type { ty, .. } => {
                let is_wanted = self.types.as_ref().is_none_or(|types| types.contains(ty));
                kind && is_wanted && self.is_of_all_parents()
            }
            // Every reader is informed why the stream ends.
            Change::Stopping => true,
        }
    }

    fn wants_parent(&self, ParentName { operator, key, .. }: &ParentName) -> bool {
        let is = |wanted: &Option<String>, text: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == text)
        };
        self.is_of(operator.as_str())
            && is(&self.query.namespace, key.namespace.as_deref())
            && is(&self.query.name, Some(&key.name))
    }

    fn is_of(&self, operator: &str) -> bool {
        self.query.operator.as_deref().is_none_or(|wanted| wanted == operator)
    }

    fn is_of_all_parents(&self) -> bool {
        self.query.namespace.is_none() && self.query.name.is_none()
    }
}

fn types_of(operator: OperatorSnapshot) -> Vec<K8sType> {
    let OperatorConfig { parent, children, .. } = operator.info.config;
    iter::once(parent).chain(children.into_iter().map(|child| child.ty)).collect()
}

fn known_kind(kind: &str) -> Result<String, Refused> {
    if frame::KINDS.contains(&kind) {
        return Ok(kind.to_owned());
    }
    let kinds = frame::KINDS.join(", ");
    Err(Refused::BadRequest(format!("kind: `{kind}` is not one of {kinds}")))
}
