//! What all operators would do now: the plans of their parents, as data and as text. Secret values are hidden.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    against::{self, DocumentError},
    diff::{self, Comparing, DifferenceView, PreviewView},
    parents::cached_parent,
    patched::differences,
    redact::Secrets,
    views::KeyView,
};
use crate::{
    board::{Board, CommandError, OperatorSnapshot, ParentState, Preview},
    object::{Object, ObjectKey, OneLine, legible},
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
    /// The parents with planned changes, of their own or of their children, and parents without a plan.
    parents: Vec<ParentPlan>,
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
struct ParentPlan {
    operator: String,
    api_version: String,
    kind: String,
    #[serde(flatten)]
    key: KeyView,
    /// Why there is no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// What would be changed in the parent itself: its finalizers, and the status fields that the handler returned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<DifferenceView>,
    /// What would be done with its children.
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
    pub(crate) async fn of(board: &Board, filter: &PlanFilter) -> Result<Self, PlanError> {
        let operators = filter.operators(board)?;
        until_secrets_are_known(board).await;
        let mut plans = Self::default();
        for operator in &operators {
            plans.add(board, operator, filter).await;
        }
        Ok(plans)
    }

    /// The same for the parents of these documents, as if they were applied; none is sent.
    ///
    /// # Errors
    /// Those of [`Plans::of`], or a document is no parent of a chosen operator.
    pub(crate) async fn against(
        board: &Board,
        filter: &PlanFilter,
        documents: &[Value],
    ) -> Result<Self, PlanError> {
        let operators = filter.operators(board)?;
        until_secrets_are_known(board).await;
        let mut parents = against::parents(board, &operators, documents)?;
        let mut plans = Self::default();
        for operator in &operators {
            let name = operator.info.name.as_str();
            let mut objects = parents.remove(name).unwrap_or_default();
            objects.retain(|object| filter.includes(object.key()));
            for object in objects {
                let preview = previewed(|| board.preview_of(name, object.clone())).await;
                plans.push(ParentPlan::of(board, operator, (object.key(), Some(&object)), preview));
            }
        }
        Ok(plans)
    }

    async fn add(&mut self, board: &Board, operator: &OperatorSnapshot, filter: &PlanFilter) {
        let name = operator.info.name.as_str();
        let is_chosen = |key: &ObjectKey, _: &ParentState| filter.includes(key);
        let chosen = board.select(name, None, usize::MAX, is_chosen);
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
    fn of(
        board: &Board,
        operator: &OperatorSnapshot,
        (key, object): (&ObjectKey, Option<&Object>),
        preview: Result<Preview, CommandError>,
    ) -> Self {
        let (name, ty) = (&operator.info.name, &operator.info.config.parent);
        let secrets = object.map_or_else(Secrets::unknown, |it| Secrets::of(board, it));
        let mut plan = Self {
            operator: name.to_string(),
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            key: key.into(),
            problem: None,
            differences: Vec::new(),
            changes: Vec::new(),
        };
        match preview {
            Ok(preview) => {
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
        self.problem.is_some() || self.would_change()
    }

    fn would_change(&self) -> bool {
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

/// A unified diff with one hunk per field, and a summary. No text of others can begin a line.
impl fmt::Display for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for parent in &self.parents {
            writeln!(f, "# {} {}", parent.operator, OneLine(&parent.key))?;
            if let Some(problem) = &parent.problem {
                writeln!(f, "# no plan: {}", OneLine(problem))?;
            }
            parent.fmt_differences(f)?;
            parent.changes.iter().try_for_each(|child| write!(f, "{child}"))?;
        }
        let differing = self.parents.iter().filter(|it| it.would_change()).count();
        writeln!(f, "# {differing} of {} parents would be changed", self.looked_at)
    }
}

impl ParentPlan {
    fn fmt_differences(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.differences.is_empty() {
            return Ok(());
        }
        let name = OneLine(format!("{}/{}/{}", self.api_version, self.kind, self.key)).to_string();
        writeln!(f, "# Update {name}\n--- live {name}\n+++ desired {name}")?;
        self.differences.iter().try_for_each(|difference| write!(f, "{difference}"))
    }
}

impl fmt::Display for ChildPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PreviewView { action, why, differences } = &self.change;
        let name = OneLine(format!("{}/{}/{}", self.api_version, self.kind, self.key)).to_string();
        writeln!(f, "# {action} {name}")?;
        if let Some(why) = why {
            writeln!(f, "# not written: {}", OneLine(why))?;
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
        writeln!(f, "@@ {} @@", OneLine(&self.path))?;
        for (sign, value) in [('-', &self.live), ('+', &self.desired)] {
            let text = value.as_ref().map(text).unwrap_or_default();
            legible(&text).lines().try_for_each(|line| writeln!(f, "{sign}{line}"))?;
        }
        Ok(())
    }
}

/// A value as YAML.
fn text(value: &Value) -> String {
    serde_yaml_ng::to_string(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Printed on terminals, and read by programs as a diff.
    #[test]
    fn no_text_of_others_begins_a_line_or_controls_a_terminal() {
        let forged = || "x\n# Delete v1/Pod/ns/a\r\u{1b}[2K\u{202e}".to_owned();
        let key = || KeyView { namespace: Some("ns".to_owned()), name: forged() };
        let difference = DifferenceView {
            path: forged(),
            desired: Some(json!(forged())),
            live: Some(json!({(forged()): 1})),
        };
        let change = PreviewView {
            action: "Update",
            why: Some(forged()),
            differences: vec![difference.clone()],
        };
        let child = ChildPlan { api_version: "v1".into(), kind: "Pod".into(), key: key(), change };
        let parent = ParentPlan {
            operator: "op".to_owned(),
            api_version: "example.com/v1".to_owned(),
            kind: "App".to_owned(),
            key: key(),
            problem: Some(forged()),
            differences: vec![difference],
            changes: vec![child],
        };
        let plans = Plans { looked_at: 1, parents: vec![parent] };
        let text = plans.to_string();
        assert!(text.contains("# Delete v1/Pod/ns/a"), "it is quoted: {text}");
        assert!(!text.lines().any(|line| line.starts_with("# Delete")), "{text}");
        assert!(!text.contains(['\r', '\u{1b}', '\u{202e}']), "{text}");
        assert!(plans.problems().all(|problem| !problem.contains(['\n', '\r', '\u{1b}'])));
    }
}
