//! `POST .../sync`, `.../pause` and `.../resume`: sends a user's command over the board and returns
//! its result. Authorization happens before.

use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, Path, Payload, ReqData},
};

use super::{
    cache::key_of,
    parents::ParentPath,
    pausing,
    redact::text_about,
    state::WebState,
    status::{Refused, success},
    visitor::Visitor,
};
use crate::{
    board::{Board, Command, CommandError},
    object::{K8sType, ObjectKey},
};

type Asker = Option<ReqData<Visitor>>;

type CommandResult = Result<HttpResponse, Refused>;

pub(super) async fn sync(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> CommandResult {
    let done = "it is reconciled as soon as a permit is free";
    // A reconcile is only requested; the other commands are complete.
    of_parent(&path, Command::Sync, StatusCode::ACCEPTED, done, asker, &state).await
}

pub(super) async fn pause(
    path: Path<ParentPath>,
    asker: Asker,
    payload: Payload,
    state: Data<WebState>,
) -> CommandResult {
    let request = pausing::read(payload).await?;
    let done = "it has the annotation operetta.dev/paused";
    let command = |key| Command::PauseParent(key, request);
    of_parent(&path, command, StatusCode::OK, done, asker, &state).await
}

pub(super) async fn resume(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> CommandResult {
    let done = "it no longer has the annotation operetta.dev/paused";
    of_parent(&path, Command::ResumeParent, StatusCode::OK, done, asker, &state).await
}

pub(super) async fn pause_operator(
    operator: Path<String>,
    asker: Asker,
    payload: Payload,
    state: Data<WebState>,
) -> CommandResult {
    let request = pausing::read(payload).await?;
    let done = match request.end {
        Some(_) => "it writes only statuses until it is resumed, or the pause or the process ends",
        None => "it writes only statuses until it is resumed or the process ends",
    };
    of_operator(&operator, Command::PauseOperator(request), done, asker, &state).await
}

pub(super) async fn resume_operator(
    operator: Path<String>,
    asker: Asker,
    state: Data<WebState>,
) -> CommandResult {
    let done = "it reconciles every parent with pending changes";
    of_operator(&operator, Command::ResumeOperator, done, asker, &state).await
}

async fn of_parent(
    ParentPath { operator, namespace, name }: &ParentPath,
    command: impl FnOnce(ObjectKey) -> Command,
    code: StatusCode,
    done: &str,
    asker: Asker,
    state: &WebState,
) -> CommandResult {
    let known = state.board.operator(operator);
    let ty = known.ok_or_else(|| Refused::NoOperator(operator.clone()))?.info.config.parent;
    let key = key_of(&ty, namespace.as_deref(), name)?;
    let executed = state.board.command(operator, command(key.clone()), name_of(asker)).await;
    executed.map_err(|error| redacted(&state.board, &ty, &key, error))?;
    Ok(success(code, format!("{ty} {key}: {done}")))
}

/// The API server's refusal may quote secrets.
fn redacted(board: &Board, ty: &K8sType, key: &ObjectKey, error: CommandError) -> CommandError {
    match error {
        CommandError::Refused { code, reason, message } => {
            let message = text_about(board, ty, key, &message);
            CommandError::Refused { code, reason, message }
        }
        other => other,
    }
}

async fn of_operator(
    operator: &str,
    command: Command,
    done: &str,
    asker: Asker,
    state: &WebState,
) -> CommandResult {
    state.board.command(operator, command, name_of(asker)).await?;
    Ok(success(StatusCode::OK, format!("operator {operator}: {done}")))
}

fn name_of(asker: Asker) -> Option<String> {
    asker.map(|visitor| visitor.user.username.clone())
}
