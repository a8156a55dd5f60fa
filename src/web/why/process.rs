//! What keeps the whole process from reconciling, whatever the state of a parent.

use k8s_openapi::jiff::Timestamp;

use crate::{
    board::Board,
    history::{Action, Problem},
    report::problem::unanswered,
};

/// The problems of the process, the worst first.
pub(in crate::web) fn of_process(board: &Board) -> Vec<Problem> {
    let credentials = board.credential_problem().map(|why| {
        let renew = "Renew the credentials of this process, which reads them again by itself";
        Problem::new("The API server does not accept the credentials of this process")
            .because(why)
            .cured_by([Action::text(renew)])
    });
    let away = board.unreachable_since().map(|since| {
        let since = Timestamp::try_from(since).unwrap_or_default();
        Problem::new("The API server does not answer")
            .because(format!("it has been unreachable since {since:.0}"))
            .because("what is shown is from before that")
            .cured_by([unanswered()])
    });
    credentials.into_iter().chain(away).collect()
}
