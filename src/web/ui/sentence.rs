//! The explanation of a parent on a page: what, why, and what to do. Pure.

use askama::{Template, filters::HtmlSafe};

use super::{parts::Prose, shell::Shell, short::Shortened};
use crate::history::{Action, Problem};

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
}

impl From<Problem> for ProblemCard {
    fn from(Problem { what, because, actions, .. }: Problem) -> Self {
        let (in_code, actions): (Vec<Action>, Vec<Action>) =
            actions.into_iter().partition(|action| action.in_code);
        let step = |Action { text, command, .. }| Step {
            text: Prose::from(text),
            command: command.map(Shell::from),
        };
        Self {
            what: what.into(),
            because: because.into_iter().map(Prose::from).collect(),
            actions: actions.into_iter().map(step).collect(),
            in_code: in_code.into_iter().map(|action| action.text.into()).collect(),
        }
    }
}
