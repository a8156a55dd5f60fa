//! What all operators would do now: the plans of their parents, as data and as text. Secret values are hidden.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    diff::{self, Comparing, DifferenceView, PreviewView},
    parents::cached_parent,
    redact::Secrets,
    views::KeyView,
};
use crate::{
    board::{Board, CommandError, OperatorSnapshot, ParentState, Preview},
    object::{Object, ObjectKey},
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
    looked_at: usize,
    /// Those of which children would be written or deleted, or that cannot be planned.
    parents: Vec<ParentPlan>,
}

/// What an operator would do for a parent.
#[derive(Debug, Serialize, JsonSchema)]
struct ParentPlan {
    operator: String,
    #[serde(flatten)]
    key: KeyView,
    /// Why there is no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ChildPlan>,
}

/// What an operator would do with a child.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChildPlan {
    api_version: String,
    kind: String,
    #[serde(flatten)]
    key: KeyView,
    #[serde(flatten)]
    change: PreviewView,
}

/// How often a parent is looked at again whose related objects are being listed, and how long between.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);

impl Plans {
    /// Calls the handlers of all chosen parents, one after the other.
    ///
    /// # Errors
    /// The operator of the filter does not exist.
    pub(crate) async fn of(board: &Board, filter: &PlanFilter) -> Result<Self, CommandError> {
        let mut operators = board.operators();
        if let Some(name) = &filter.operator {
            operators.retain(|operator| operator.info.name.as_str() == name);
            if operators.is_empty() {
                return Err(CommandError::NoOperator(name.clone()));
            }
        }
        until_secrets_are_known(board).await;
        let mut plans = Self::default();
        for operator in &operators {
            plans.add(board, operator, filter).await;
        }
        Ok(plans)
    }

    async fn add(&mut self, board: &Board, operator: &OperatorSnapshot, filter: &PlanFilter) {
        let name = operator.info.name.as_str();
        let is_chosen = |key: &ObjectKey, _: &ParentState| {
            filter.namespace.as_deref().is_none_or(|only| key.namespace.as_deref() == Some(only))
        };
        let chosen = board.select(name, None, usize::MAX, is_chosen);
        for (key, parent) in chosen.map(|it| it.items).unwrap_or_default() {
            self.looked_at += 1;
            let object = cached_parent(board, &operator.info, &key, &parent.uid);
            let plan = ParentPlan::of(board, operator, &key, object.as_ref()).await;
            if plan.problem.is_some() || !plan.changes.is_empty() {
                self.parents.push(plan);
            }
        }
    }

    /// Whether something would be written or deleted.
    pub fn has_changes(&self) -> bool {
        self.parents
            .iter()
            .any(|parent| parent.changes.iter().any(|it| it.change.changes_something()))
    }

    /// Why parents cannot be planned, each beginning with its name.
    pub fn problems(&self) -> impl Iterator<Item = String> + '_ {
        self.parents.iter().filter_map(|parent| {
            let problem = parent.problem.as_ref()?;
            Some(format!("{} {}: {problem}", parent.operator, parent.key))
        })
    }
}

impl ParentPlan {
    async fn of(
        board: &Board,
        operator: &OperatorSnapshot,
        key: &ObjectKey,
        object: Option<&Object>,
    ) -> Self {
        let name = &operator.info.name;
        let secrets = object.map_or_else(Secrets::unknown, |it| Secrets::of(board, it));
        let (changes, problem) = match previewed(board, name.as_str(), key).await {
            Ok(preview) => {
                let comparing = Comparing { board, operator: name, secrets: &secrets };
                (changes(&preview, &comparing), None)
            }
            Err(error) => (Vec::new(), Some(secrets.text(&error.to_string()))),
        };
        Self { operator: name.to_string(), key: key.into(), problem, changes }
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
async fn previewed(
    board: &Board,
    operator: &str,
    key: &ObjectKey,
) -> Result<Preview, CommandError> {
    for _ in 0..TRIES {
        match board.preview(operator, key.clone()).await {
            Err(CommandError::NotYet(_)) => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
    board.preview(operator, key.clone()).await
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

/// A unified diff with one hunk per field, and a summary.
impl fmt::Display for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for parent in &self.parents {
            writeln!(f, "# {} {}", parent.operator, parent.key)?;
            if let Some(problem) = &parent.problem {
                writeln!(f, "# no plan: {problem}")?;
            }
            parent.changes.iter().try_for_each(|child| write!(f, "{child}"))?;
        }
        let differing = self.parents.iter().filter(|parent| !parent.changes.is_empty()).count();
        writeln!(f, "# {differing} of {} parents would be changed", self.looked_at)
    }
}

impl fmt::Display for ChildPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PreviewView { action, why, differences } = &self.change;
        let name = format!("{}/{}/{}", self.api_version, self.kind, self.key);
        writeln!(f, "# {action} {name}")?;
        if let Some(why) = why {
            writeln!(f, "# not written: {why}")?;
        }
        let (live, desired) = match *action {
            "Create" => ("/dev/null", name.as_str()),
            "Delete" => (name.as_str(), "/dev/null"),
            _ => (name.as_str(), name.as_str()),
        };
        writeln!(f, "--- live {live}\n+++ desired {desired}")?;
        differences.iter().try_for_each(|difference| write!(f, "{difference}"))
    }
}

impl fmt::Display for DifferenceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "@@ {} @@", self.path)?;
        for (sign, value) in [('-', &self.live), ('+', &self.desired)] {
            let text = value.as_ref().map(text).unwrap_or_default();
            text.lines().try_for_each(|line| writeln!(f, "{sign}{line}"))?;
        }
        Ok(())
    }
}

/// A value as YAML.
fn text(value: &Value) -> String {
    serde_yaml_ng::to_string(value).unwrap_or_else(|_| value.to_string())
}
