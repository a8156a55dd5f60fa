//! The explanation of a parent on a page: what, why, and what to do. Pure.

use askama::{Template, filters::HtmlSafe};

use super::{parts::Prose, shell::Shell, short::Shortened};
use crate::{
    history::{Action, Problem},
    operator::ALLOW_DELETION_ANNOTATION,
};

/// A problem as a card.
#[derive(Debug, Template)]
#[template(path = "problem.html")]
pub(super) struct ProblemCard {
    pub(super) what: Shortened,
    pub(super) because: Vec<Prose>,
    actions: Vec<Step>,
    in_code: Vec<Prose>,
}

impl HtmlSafe for ProblemCard {}

#[derive(Debug)]
struct Step {
    text: Prose,
    command: Option<Shell>,
    /// The button of the page that does the same.
    button: Option<Approval>,
}

/// The button that allows the deletions of a parent that are held.
#[derive(Debug, Clone)]
pub(super) struct Approval {
    /// Of the API.
    pub(super) path: String,
    pub(super) code: String,
}

/// Problems in a few lines.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) what: Shortened,
    pub(super) because: Vec<Prose>,
    /// The command that cures the first.
    pub(super) command: Option<String>,
    /// How many other problems there are.
    pub(super) others: usize,
}

/// The most evidence in a few lines.
const BECAUSE: usize = 2;

impl From<Vec<Problem>> for Words {
    fn from(problems: Vec<Problem>) -> Self {
        let others = problems.len().saturating_sub(1);
        let Problem { what, because, actions, .. } =
            problems.into_iter().next().unwrap_or_default();
        let command = actions.into_iter().filter(|it| !it.in_code).find_map(|it| it.command);
        let because = because.into_iter().take(BECAUSE).map(Prose::from).collect();
        Self { what: what.into(), because, command, others }
    }
}

impl ProblemCard {
    /// Whether it says more than that all is well.
    pub(super) fn is_one(problem: &Problem) -> bool {
        !problem.because.is_empty() || !problem.actions.is_empty()
    }

    /// With the button beside the command that it replaces.
    pub(super) fn new(problem: Problem, approval: Option<&Approval>) -> Self {
        let Problem { what, because, actions, .. } = problem;
        let (in_code, actions): (Vec<Action>, Vec<Action>) =
            actions.into_iter().partition(|action| action.in_code);
        let step = |Action { text, command, .. }| {
            let is_it = |it: &&Approval| command.as_ref().is_some_and(|command| it.does(command));
            let button = approval.filter(is_it).cloned();
            Step { text: Prose::from(text), command: command.map(Shell::from), button }
        };
        Self {
            what: what.into(),
            because: because.into_iter().map(Prose::from).collect(),
            actions: actions.into_iter().map(step).collect(),
            in_code: in_code.into_iter().map(|action| action.text.into()).collect(),
        }
    }
}

impl Approval {
    fn does(&self, command: &str) -> bool {
        command.ends_with(&format!("{ALLOW_DELETION_ANNOTATION}={}", self.code))
    }
}
