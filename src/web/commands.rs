//! `POST .../sync`, `.../pause` and `.../resume`: sends a user's command over the board and returns
//! its result. Authorization happens before.

use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, Path, ReqData},
};

use super::{
    cache::key_of,
    parents::ParentPath,
    redact::text_about,
    state::WebState,
    status::{Refused, success},
    visitor::Visitor,
};
use crate::{
    board::{Board, Command, CommandError},
    object::{K8sType, ObjectKey},
};

/// The authenticated user, if any.
type Asker = Option<ReqData<Visitor>>;

/// A command for a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Sync,
    Pause,
    Resume,
}

pub(super) async fn sync(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    of_parent(path.into_inner(), Verb::Sync, asker, &state).await
}

pub(super) async fn pause(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    of_parent(path.into_inner(), Verb::Pause, asker, &state).await
}

pub(super) async fn resume(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    of_parent(path.into_inner(), Verb::Resume, asker, &state).await
}

pub(super) async fn pause_operator(
    operator: Path<String>,
    asker: Asker,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let done = "it writes only statuses until it is resumed or the process ends";
    of_operator(&operator, Command::PauseOperator, asker, &state, done).await
}

pub(super) async fn resume_operator(
    operator: Path<String>,
    asker: Asker,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let done = "it reconciles every parent with pending changes";
    of_operator(&operator, Command::ResumeOperator, asker, &state, done).await
}

async fn of_parent(
    path: ParentPath,
    verb: Verb,
    asker: Asker,
    state: &WebState,
) -> Result<HttpResponse, Refused> {
    let ParentPath { operator, namespace, name } = path;
    let known = state.board.operator(&operator);
    let info = known.ok_or_else(|| Refused::NoOperator(operator.clone()))?.info;
    let key = key_of(&info.config.parent, namespace.as_deref(), &name)?;
    let message = format!("{} {key}: {}", info.config.parent, verb.done());
    let done = state.board.command(&operator, verb.command(key.clone()), name_of(asker)).await;
    done.map_err(|error| redacted(&state.board, &info.config.parent, &key, error))?;
    Ok(success(verb.code(), message))
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
    asker: Asker,
    state: &WebState,
    done: &str,
) -> Result<HttpResponse, Refused> {
    state.board.command(operator, command, name_of(asker)).await?;
    Ok(success(StatusCode::OK, format!("operator {operator}: {done}")))
}

fn name_of(asker: Asker) -> Option<String> {
    asker.map(|visitor| visitor.user.username.clone())
}

impl Verb {
    fn command(self, key: ObjectKey) -> Command {
        match self {
            Self::Sync => Command::Sync(key),
            Self::Pause => Command::PauseParent(key),
            Self::Resume => Command::ResumeParent(key),
        }
    }

    /// A reconcile is only requested; the other commands are complete.
    fn code(self) -> StatusCode {
        match self {
            Self::Sync => StatusCode::ACCEPTED,
            Self::Pause | Self::Resume => StatusCode::OK,
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Sync => "it is reconciled as soon as a permit is free",
            Self::Pause => "it has the annotation operetta.dev/paused",
            Self::Resume => "it no longer has the annotation operetta.dev/paused",
        }
    }
}
