//! The tools: their names, arguments and hints, and the permission that each needs. What they do is in `perform`.

use std::sync::Arc;

use rmcp::model::{Tool as ToolView, ToolAnnotations};

use super::{
    arguments::{Argument, schema},
    client::Client,
    requests::ApiRequest,
};
use crate::{
    board::{OperatorSnapshot, PauseRequest},
    web::{commands::ParentCommand, parents::ParentPath},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Operators,
    Attention,
    Parents,
    Explain,
    Children,
    Map,
    Diff,
    Events,
    Activity,
    Sync,
    Pause,
    Resume,
    AllowDeletions,
}

const OPERATOR: Argument = Argument::required("operator", "the name of an operator");
const NAME: Argument =
    Argument::required("name", "the name of the parent, or its namespace/name as answers show it");
const ANY_OPERATOR: Argument = Argument::optional("operator", "only of this operator");
const OF_NAMESPACE: Argument = Argument::optional("namespace", "only in this namespace");
const NAMESPACE: Argument =
    Argument::optional("namespace", "the namespace of the parent, unless it is cluster-scoped");
const KIND: Argument = Argument::optional("kind", "only objects of this kind, such as Pod");
const PROBLEMS: Argument = Argument::switch("problems", "only what is not in order");
const PHASE: Argument = Argument::optional(
    "phase",
    "only those in one of these phases, separated by commas: pending, running, ready, synced, waiting, failing, \
     stalled, finalizing, paused",
);
const TEXT: Argument =
    Argument::optional("text", "only those whose namespace/name contains this text, ignoring case");

const WHAT: Argument = Argument::optional(
    "kind",
    "only some of these, separated by commas: created, adopted, updated, recreated, deleted, repaired, held, allowed, \
     released, failing, recovered, paused, resumed, leader, registered, unregistered, denied, rejected",
);
const CONTAINS: Argument = Argument::optional(
    "text",
    "only entries with this text in the names, the fields, the user or the reason, ignoring case",
);
const SINCE: Argument = Argument::optional(
    "since",
    "only what happened since then: a time of RFC 3339, or a span such as 30s, 15m, 2h or 1d",
);
const REASON: Argument =
    Argument::optional("reason", "why, in at most 512 characters: others read it").up_to(2048);
const FOR: Argument =
    Argument::optional("for", "after which time the pause ends by itself, such as 2h or 1d 12h");

const FIELDS_OF: Argument = Argument::optional(
    "fields_of",
    "the id of one object: who set which of its fields, instead of the map",
)
.up_to(1024);
const CODE: Argument =
    Argument::required("code", "the code of the deletions, as `explain` shows it in the command");

/// More operators are not asked about: each asking may be a review by the API server.
const MAX_OPERATORS: usize = 20;
/// Stands for the name of any parent, in a review.
const ANY: &str = "any";

impl Tool {
    pub(super) const ALL: [Self; 13] = [
        Self::Operators,
        Self::Attention,
        Self::Parents,
        Self::Explain,
        Self::Children,
        Self::Map,
        Self::Diff,
        Self::Events,
        Self::Activity,
        Self::Sync,
        Self::Pause,
        Self::Resume,
        Self::AllowDeletions,
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Operators => "operators",
            Self::Attention => "attention",
            Self::Parents => "parents",
            Self::Explain => "explain",
            Self::Children => "children",
            Self::Map => "map",
            Self::Diff => "diff",
            Self::Events => "events",
            Self::Activity => "activity",
            Self::Sync => "sync",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::AllowDeletions => "allow-deletions",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Operators => {
                "Lists the operators: their states, types, and how many parents are in each phase."
            }
            Self::Attention => {
                "Lists what needs attention, most severe first: operators, caches, and parents with the reason."
            }
            Self::Parents => "Lists the parents of an operator with their phases.",
            Self::Explain => {
                "Explains a parent: its state, what it waits for, what to do, its conditions and its last reconciles."
            }
            Self::Children => "Shows the tree of the children of a parent, with their readiness.",
            Self::Map => {
                "Shows what is around a parent: children, their Pods and claims, related objects, who else writes. \
                 Pods are read now."
            }
            Self::Diff => {
                "Shows what a reconcile of a parent would change. Its handler is called, and nothing is written."
            }
            Self::Events => {
                "Shows the Kubernetes Events about a parent and its children, newest first. They are read now."
            }
            Self::Activity => {
                "Shows what happened, newest first: writes, repairs of what others changed, failures, pauses, who did what."
            }
            Self::Sync => "Reconciles a parent now. Its children are written, as by any reconcile.",
            Self::Pause => {
                "Pauses a parent: none of its children is written or deleted until it is resumed."
            }
            Self::Resume => "Resumes a paused parent: what is pending is written.",
            Self::AllowDeletions => {
                "Allows the deletions of a parent that are held, by their code. They are carried out once, and nothing undoes them."
            }
        }
    }

    pub(super) fn arguments(self) -> &'static [Argument] {
        match self {
            Self::Operators => &[],
            Self::Attention => &[ANY_OPERATOR, OF_NAMESPACE],
            Self::Parents => &[OPERATOR, OF_NAMESPACE, PHASE, TEXT],
            Self::Children | Self::Events => &[OPERATOR, NAME, NAMESPACE, KIND, PROBLEMS],
            Self::Map => &[OPERATOR, NAME, NAMESPACE, KIND, PROBLEMS, FIELDS_OF],
            Self::Diff => &[OPERATOR, NAME, NAMESPACE, KIND],
            Self::Activity => &[ANY_OPERATOR, OF_NAMESPACE, WHAT, CONTAINS, SINCE],
            Self::Pause => &[OPERATOR, NAME, NAMESPACE, REASON, FOR],
            Self::AllowDeletions => &[OPERATOR, NAME, NAMESPACE, CODE],
            Self::Explain | Self::Sync | Self::Resume => &[OPERATOR, NAME, NAMESPACE],
        }
    }

    /// A reconcile may change and delete children, and its handler may do something each time. A pause deletes nothing.
    fn hints(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        let command = hints.clone().read_only(false);
        match self {
            Self::Operators
            | Self::Attention
            | Self::Parents
            | Self::Explain
            | Self::Children
            | Self::Map
            | Self::Diff
            | Self::Events
            | Self::Activity => hints.read_only(true),
            Self::Sync => command.destructive(true).idempotent(false),
            Self::Pause => command.destructive(false).idempotent(true),
            Self::Resume | Self::AllowDeletions => command.destructive(true).idempotent(true),
        }
    }

    pub(super) fn view(self) -> ToolView {
        ToolView::new(self.name(), self.about(), Arc::new(schema(self.arguments())))
            .with_annotations(self.hints())
    }

    /// Whether there is an operator for which this client may call it, in the namespace of the client or in any.
    pub(super) async fn is_possible(self, client: &Client) -> bool {
        if self == Self::Operators {
            return client.may(&ApiRequest::operators()).await.is_ok();
        }
        for operator in client.state.board.operators().iter().take(MAX_OPERATORS) {
            if client.may(&self.example(operator, client.namespace.as_deref())).await.is_ok() {
                return true;
            }
        }
        false
    }

    /// What a call about this operator stands for.
    fn example(self, operator: &OperatorSnapshot, namespace: Option<&str>) -> ApiRequest {
        let name = operator.info.name.as_str();
        let is_namespaced = operator.info.config.parent.is_namespaced();
        let any = || ParentPath {
            operator: name.to_owned(),
            namespace: is_namespaced.then(|| namespace.unwrap_or(ANY).to_owned()),
            name: ANY.to_owned(),
        };
        match self {
            Self::Operators => ApiRequest::operators(),
            Self::Attention | Self::Parents => ApiRequest::parents(name, namespace),
            Self::Explain | Self::Children | Self::Diff | Self::Events => {
                ApiRequest::parent(&any())
            }
            Self::Map => ApiRequest::map(&any()),
            Self::Activity => ApiRequest::activity(Some(name), namespace),
            Self::Sync => ApiRequest::command(&any(), &ParentCommand::Sync),
            Self::Pause => {
                ApiRequest::command(&any(), &ParentCommand::Pause(PauseRequest::default()))
            }
            Self::Resume => ApiRequest::command(&any(), &ParentCommand::Resume),
            Self::AllowDeletions => {
                ApiRequest::command(&any(), &ParentCommand::AllowDeletions(String::new()))
            }
        }
    }
}

/// The rows of the table in the documentation.
#[cfg(test)]
pub(in crate::web) fn documented() -> Vec<String> {
    let row = |tool: Tool| {
        let arguments: Vec<String> = tool
            .arguments()
            .iter()
            .map(|it| match it.form {
                super::arguments::ArgumentForm::Required => format!("`{}`", it.name),
                _ => format!("[`{}`]", it.name),
            })
            .collect();
        let hints = tool.hints();
        let hints = match (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) {
            (Some(true), ..) => "`readOnlyHint`".to_owned(),
            (_, destructive, idempotent) => {
                let named = [("`destructiveHint`", destructive), ("`idempotentHint`", idempotent)];
                let set = named.iter().filter(|(_, is_set)| *is_set == Some(true));
                set.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
            }
        };
        format!("| `{}` | {} | {} | {hints} |", tool.name(), arguments.join(" "), tool.about())
    };
    Tool::ALL.into_iter().map(row).collect()
}
