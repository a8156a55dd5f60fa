//! What all operators would do now: the plans of their parents, as data and as text. Secret values are hidden.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    against::{self, Applied, DocumentError},
    diff::{self, Comparing, DifferenceView, PreviewView},
    dry_run::{Verdict, tried},
    parents::cached_parent,
    patched::differences,
    redact::Secrets,
    views::KeyView,
};
use crate::{
    board::{Board, CommandError, OperatorSnapshot, ParentState, Preview, Window},
    cluster::Cluster,
    object::{Object, ObjectKey, OneLine},
    plan::ChildId,
};

/// Which parents are planned for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFilter {
    /// Only those of this operator.
    pub operator: Option<String>,
    /// Only those in this namespace.
    pub namespace: Option<String>,
}

/// What operators would do now.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plans {
    /// How many parents were looked at.
    pub(super) looked_at: usize,
    /// The parents with planned changes, of their own or of their children, and parents without a plan.
    pub(super) parents: Vec<ParentPlan>,
}

/// Why no plans can be made at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// What an operator would do for a parent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ParentPlan {
    pub(super) operator: String,
    pub(super) api_version: String,
    pub(super) kind: String,
    #[serde(flatten)]
    pub(super) key: KeyView,
    /// Why there is no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    /// Why the API server was not asked whether it would accept the parent of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unchecked: Option<String>,
    /// What would be changed in the parent itself: its finalizers, and the status fields that the handler returned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) differences: Vec<DifferenceView>,
    /// What would be done with its children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<ChildPlan>,
}

/// What an operator would do with a child.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChildPlan {
    pub(super) api_version: String,
    pub(super) kind: String,
    #[serde(flatten)]
    pub(super) key: KeyView,
    #[serde(flatten)]
    pub(super) change: PreviewView,
}

/// How often a parent is looked at again whose related objects are being listed, and how long between.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

impl Plans {
    /// Calls the handlers of all chosen parents, one after the other.
    ///
    /// # Errors
    /// The operator of the filter does not exist.
    pub(crate) async fn of(board: &Board, filter: &PlanFilter) -> Result<Self, PlanError> {
        let operators = filter.operators(board)?;
        until_secrets_are_known(board).await;
        let mut plans = Self::default();
        for operator in &operators {
            plans.add(board, operator, filter).await;
        }
        Ok(plans)
    }

    /// The same for the parents of these documents, as if they were applied.
    ///
    /// # Errors
    /// Those of [`Plans::of`], or a document is no parent of a chosen operator.
    pub(crate) async fn against(
        board: &Board,
        cluster: &Cluster,
        filter: &PlanFilter,
        documents: &[Value],
    ) -> Result<Self, PlanError> {
        let operators = filter.operators(board)?;
        until_secrets_are_known(board).await;
        let mut parents = against::parents(board, &operators, documents)?;
        let mut plans = Self::default();
        for operator in &operators {
            let name = operator.info.name.as_str();
            let mut chosen = parents.remove(name).unwrap_or_default();
            chosen.retain(|parent| filter.includes(parent.object.key()));
            for parent in chosen {
                plans.push(ParentPlan::against(board, cluster, operator, parent).await);
            }
        }
        Ok(plans)
    }

    async fn add(&mut self, board: &Board, operator: &OperatorSnapshot, filter: &PlanFilter) {
        let name = operator.info.name.as_str();
        let is_chosen = |key: &ObjectKey, _: &ParentState| filter.includes(key).then_some(0);
        let chosen = board.select(name, &Window::first(usize::MAX), is_chosen);
        for (key, parent) in chosen.map(|it| it.items).unwrap_or_default() {
            let object = cached_parent(board, &operator.info, &key, &parent.uid);
            let preview = previewed(|| board.preview(name, key.clone())).await;
            self.push(ParentPlan::of(board, operator, (&key, object.as_ref()), preview));
        }
    }

    fn push(&mut self, plan: ParentPlan) {
        self.looked_at += 1;
        if plan.is_worth_showing() {
            self.parents.push(plan);
        }
    }

    /// Whether something would be written or deleted.
    pub fn has_changes(&self) -> bool {
        self.parents.iter().any(|parent| {
            !parent.differences.is_empty()
                || parent.changes.iter().any(|it| it.change.changes_something())
        })
    }

    /// Why parents cannot be planned, each beginning with its name.
    pub fn problems(&self) -> impl Iterator<Item = String> + '_ {
        self.parents.iter().filter_map(|parent| {
            let problem = parent.problem.as_ref()?;
            Some(OneLine(format!("{} {}: {problem}", parent.operator, parent.key)).to_string())
        })
    }
}

impl PlanFilter {
    fn operators(&self, board: &Board) -> Result<Vec<OperatorSnapshot>, CommandError> {
        let mut operators = board.operators();
        if let Some(name) = &self.operator {
            operators.retain(|operator| operator.info.name.as_str() == name);
            if operators.is_empty() {
                return Err(CommandError::NoOperator(name.clone()));
            }
        }
        Ok(operators)
    }

    fn includes(&self, key: &ObjectKey) -> bool {
        self.namespace.as_deref().is_none_or(|only| key.namespace.as_deref() == Some(only))
    }
}

impl ParentPlan {
    fn empty(operator: &OperatorSnapshot, key: &ObjectKey) -> Self {
        let (name, ty) = (&operator.info.name, &operator.info.config.parent);
        Self {
            operator: name.to_string(),
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            key: key.into(),
            problem: None,
            unchecked: None,
            differences: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// For a parent of a file.
    async fn against(
        board: &Board,
        cluster: &Cluster,
        operator: &OperatorSnapshot,
        parent: Applied,
    ) -> Self {
        let secrets = Secrets::of(board, &parent.object);
        let shown = |why: &dyn std::fmt::Display| Some(secrets.text(&why.to_string()));
        let (object, unchecked) = match tried(cluster, parent).await {
            Verdict::Stored(object) => (object, None),
            Verdict::Unasked(object, why) => (object, shown(&why)),
            Verdict::Refused(object, why) => {
                let problem = shown(&format_args!("the API server would refuse it: {why}"));
                return Self { problem, ..Self::empty(operator, object.key()) };
            }
        };
        let name = operator.info.name.as_str();
        let preview = previewed(|| board.preview_of(name, object.clone())).await;
        let plan = Self::of(board, operator, (object.key(), Some(&object)), preview);
        Self { unchecked, ..plan }
    }

    fn of(
        board: &Board,
        operator: &OperatorSnapshot,
        (key, object): (&ObjectKey, Option<&Object>),
        preview: Result<Preview, CommandError>,
    ) -> Self {
        let secrets = object.map_or_else(Secrets::unknown, |it| Secrets::of(board, it));
        let mut plan = Self::empty(operator, key);
        match preview {
            Ok(preview) => {
                let name = &operator.info.name;
                let comparing = Comparing { board, operator: name, secrets: &secrets };
                let patched = object.zip(preview.parent.as_ref());
                let patched = patched.map(|(it, patch)| differences(it, patch, &comparing));
                plan.differences = patched.unwrap_or_default();
                plan.changes = changes(&preview, &comparing);
            }
            Err(error) => plan.problem = Some(secrets.text(&error.to_string())),
        }
        plan
    }

    fn is_worth_showing(&self) -> bool {
        self.problem.is_some() || self.unchecked.is_some() || self.would_change()
    }

    pub(super) fn would_change(&self) -> bool {
        !self.differences.is_empty() || !self.changes.is_empty()
    }
}

/// Without the schemas nothing but names would be shown. A server that publishes none is not waited for for long.
async fn until_secrets_are_known(board: &Board) {
    for _ in 0..TRIES {
        if board.types().iter().all(|ty| ty.secrets().is_some()) {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Related objects may have to be listed first.
async fn previewed<F>(preview: impl Fn() -> F) -> Result<Preview, CommandError>
where
    F: Future<Output = Result<Preview, CommandError>>,
{
    for _ in 0..TRIES {
        match preview().await {
            Err(CommandError::NotYet(_)) => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
    preview().await
}

fn changes(preview: &Preview, comparing: &Comparing<'_>) -> Vec<ChildPlan> {
    let mut changes: Vec<(ChildId, PreviewView)> =
        diff::by_child(preview, comparing).into_iter().collect();
    changes.retain(|(_, change)| change.action != "Keep");
    changes.sort_by(|(a, _), (b, _)| a.cmp(b));
    let plan = |(ChildId { ty, key }, change)| ChildPlan {
        api_version: ty.api_version().to_owned(),
        kind: ty.kind().to_owned(),
        key: (&key).into(),
        change,
    };
    changes.into_iter().map(plan).collect()
}
