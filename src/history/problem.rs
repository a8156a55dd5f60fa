//! What keeps a parent from being up to date and ready, why, and what cures it: values only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire;
use crate::plan::ChildId;

/// Something that keeps a parent from being up to date and ready.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Problem {
    /// One line: the object, and the field if it is one.
    pub(crate) what: String,
    /// The evidence, a sentence each.
    pub(crate) because: Vec<String>,
    /// What cures it, the best first.
    pub(crate) actions: Vec<Action>,
    /// The child that is not ready, if it is that: what it depends on may say more.
    #[serde(skip)]
    pub(crate) unready: Option<ChildId>,
}

/// A step that cures a problem.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProblemAction")]
pub(crate) struct Action {
    /// What it does, as an order without a full stop.
    pub(crate) text: String,
    /// The command for a shell that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Whether only the author of the handler can do it.
    pub(crate) in_code: bool,
}

/// The longest text kept, in bytes.
const MAX_TEXT: usize = 512;
/// The longest command: one that is cut does something else.
const MAX_COMMAND: usize = 2048;
/// The most sentences, and the most actions.
const MAX_LINES: usize = 8;

impl Problem {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    #[must_use]
    pub(crate) fn because(mut self, why: impl Into<String>) -> Self {
        self.because.push(why.into());
        self
    }

    #[must_use]
    pub(crate) fn cured_by(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// The best action that a user can take who does not write the handler, else the best one.
    pub(crate) fn first_action(&self) -> Option<&Action> {
        self.actions.iter().find(|action| !action.in_code).or_else(|| self.actions.first())
    }

    /// The end of a message about the first of these problems: the command, if one comes first. What has no command is
    /// for a page: a message would be longer and say no more.
    pub(crate) fn order(problems: &[Self]) -> String {
        let action = problems.first().and_then(Self::first_action);
        let command = action.and_then(|action| action.command.as_deref());
        command.map_or_else(String::new, |command| format!("; do this: {command}"))
    }

    pub(super) fn bounded(mut self) -> Self {
        let short = |text: String| wire::shortened(text, MAX_TEXT).into_string();
        self.what = short(self.what);
        self.because.truncate(MAX_LINES);
        self.because = self.because.into_iter().map(short).collect();
        self.actions.truncate(MAX_LINES);
        for action in &mut self.actions {
            action.text = short(std::mem::take(&mut action.text));
            action.command = action.command.take().filter(|command| command.len() <= MAX_COMMAND);
        }
        self
    }
}

impl Action {
    /// A step without a command.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A step that a command does.
    pub(crate) fn command(text: impl Into<String>, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..Self::text(text) }
    }

    /// A step that only the author of the handler can take.
    pub(crate) fn in_code(text: impl Into<String>) -> Self {
        Self { in_code: true, ..Self::text(text) }
    }

    /// The command, else the text.
    #[cfg(any(test, feature = "mcp"))]
    pub(crate) fn as_order(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.text)
    }
}
