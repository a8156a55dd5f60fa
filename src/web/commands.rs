//! `POST .../sync`, `.../pause`, `.../resume` and `.../allow-deletions`: sends a user's command over the board and
//! returns its result. Authorization happens before.

use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, Path, Payload, ReqData},
};

use super::{
    approval,
    cache::key_of,
    members::{Members, Missing},
    parents::ParentPath,
    pausing,
    redact::text_about,
    state::WebState,
    status::{Refused, success},
    visitor::Visitor,
};
use crate::{
    board::{Board, Command, CommandError, PauseRequest},
    object::{K8sType, ObjectKey},
};

type Asker = Option<ReqData<Visitor>>;

type CommandResult = Result<HttpResponse, Refused>;

/// A command for one parent.
#[derive(Debug)]
pub(super) enum ParentCommand {
    Sync,
    Pause(PauseRequest),
    Resume,
    /// Of this code.
    AllowDeletions(String),
}

/// A command that was executed or accepted.
pub(super) struct Done {
    pub(super) code: StatusCode,
    pub(super) message: String,
}

pub(super) async fn sync(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> CommandResult {
    answer(ParentCommand::Sync, &path, asker, &state).await
}

pub(super) async fn pause(
    path: Path<ParentPath>,
    asker: Asker,
    payload: Payload,
    state: Data<WebState>,
) -> CommandResult {
    let request = pausing::read(payload).await?;
    answer(ParentCommand::Pause(request), &path, asker, &state).await
}

pub(super) async fn allow_deletions(
    path: Path<ParentPath>,
    asker: Asker,
    payload: Payload,
    state: Data<WebState>,
) -> CommandResult {
    let code = approval::read(payload).await?;
    answer(ParentCommand::AllowDeletions(code), &path, asker, &state).await
}

pub(super) async fn resume(
    path: Path<ParentPath>,
    asker: Asker,
    state: Data<WebState>,
) -> CommandResult {
    answer(ParentCommand::Resume, &path, asker, &state).await
}

pub(super) async fn pause_operator(
    operator: Path<String>,
    asker: Asker,
    payload: Payload,
    state: Data<WebState>,
    members: Members,
) -> CommandResult {
    let (request, text) = pausing::read_with_text(payload).await?;
    let done = match request.end {
        Some(_) => "it writes only statuses until it is resumed, or the pause or the process ends",
        None => "it writes only statuses until it is resumed or the process ends",
    };
    let command = (Command::PauseOperator(request), text);
    of_operator(&operator, command, done, asker, (&state, &members)).await
}

pub(super) async fn resume_operator(
    operator: Path<String>,
    asker: Asker,
    state: Data<WebState>,
    members: Members,
) -> CommandResult {
    let done = "it reconciles every parent with pending changes";
    let command = (Command::ResumeOperator, String::new());
    of_operator(&operator, command, done, asker, (&state, &members)).await
}

async fn answer(
    command: ParentCommand,
    path: &ParentPath,
    asker: Asker,
    state: &WebState,
) -> CommandResult {
    let Done { code, message } = command.execute(path, name_of(asker), state).await?;
    Ok(success(code, message))
}

impl ParentCommand {
    /// The last part of its path.
    #[cfg(feature = "mcp")]
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Pause(_) => "pause",
            Self::Resume => "resume",
            Self::AllowDeletions(_) => "allow-deletions",
        }
    }

    /// Sends it in the name of this user, if that is known.
    pub(super) async fn execute(
        self,
        ParentPath { operator, namespace, name }: &ParentPath,
        by: Option<String>,
        state: &WebState,
    ) -> Result<Done, Refused> {
        let known = state.board.operator(operator);
        let ty = known.ok_or_else(|| Refused::NoOperator(operator.clone()))?.info.config.parent;
        let key = key_of(&ty, namespace.as_deref(), name)?;
        if let Self::AllowDeletions(code) = &self {
            approval::check(&state.board, operator, &key, code)?;
        }
        let (code, message) = (self.code(), format!("{ty} {key}: {}", self.done()));
        let executed = state.board.command(operator, self.of(key.clone()), by).await;
        executed.map_err(|error| redacted(&state.board, &ty, &key, error))?;
        Ok(Done { code, message })
    }

    fn of(self, key: ObjectKey) -> Command {
        match self {
            Self::Sync => Command::Sync(key),
            Self::Pause(request) => Command::PauseParent(key, request),
            Self::Resume => Command::ResumeParent(key),
            Self::AllowDeletions(code) => Command::AllowDeletions(key, code),
        }
    }

    /// A reconcile is only requested; the other commands are complete.
    fn code(&self) -> StatusCode {
        match self {
            Self::Sync => StatusCode::ACCEPTED,
            Self::Pause(_) | Self::Resume | Self::AllowDeletions(_) => StatusCode::OK,
        }
    }

    fn done(&self) -> &'static str {
        match self {
            Self::Sync => "it is reconciled as soon as a permit is free",
            Self::Pause(_) => "it has the annotation operetta.dev/paused",
            Self::Resume => "it no longer has the annotation operetta.dev/paused",
            Self::AllowDeletions(_) => {
                "it has the annotation operetta.dev/allow-deletion: the children that were held are deleted"
            }
        }
    }
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

/// In all processes that share the parents: each pauses its own.
async fn of_operator(
    operator: &str,
    (command, text): (Command, String),
    done: &str,
    asker: Asker,
    (state, members): (&WebState, &Members),
) -> CommandResult {
    state.board.command(operator, command, name_of(asker)).await?;
    let message = format!("operator {operator}: {done}");
    let missing = members.command(&text.into()).await;
    if missing.is_empty() {
        return Ok(success(StatusCode::OK, message));
    }
    let missing: Vec<String> = missing.iter().map(Missing::without_command).collect();
    Err(Refused::Elsewhere(format!(
        "{message}; but {}. Send the command again",
        missing.join("; ")
    )))
}

fn name_of(asker: Asker) -> Option<String> {
    asker.map(|visitor| visitor.user.username.clone())
}
