//! Performs a call of a tool: checks its arguments and the permission, and answers. Nothing is read before.

use actix_web::ResponseError;
use rmcp::model::JsonObject;

use super::{
    answers::Head,
    arguments::Arguments,
    client::Client,
    happened, lists, map,
    parent::{self, Part},
    requests::ApiRequest,
    tools::Tool,
};
use crate::web::{
    commands::ParentCommand,
    explain::{ExplainQuery, Explained},
    map::read,
    pausing,
    status::Refused,
    switch::Switch,
};

/// A refusal of the HTTP API, for somebody who gives arguments instead of paths.
pub(super) fn in_words(refused: &Refused) -> String {
    match refused {
        Refused::NoOperator(name) => {
            format!(
                "the operator `{name}` does not exist: `operators` or `attention` shows their names"
            )
        }
        Refused::NamespaceMissing(ty) => {
            format!("{} are namespaced: give the `namespace`", ty.resource_name())
        }
        Refused::NamespaceForbidden(ty) => {
            format!("{} have no namespace: give none", ty.resource_name())
        }
        other => other.to_string(),
    }
}

pub(super) async fn perform(
    client: &Client,
    name: &str,
    given: Option<JsonObject>,
) -> Result<String, Refused> {
    let tool = Tool::named(name).ok_or_else(|| {
        let names = Tool::ALL.map(Tool::name).join(", ");
        Refused::BadRequest(format!("there is no such tool: the tools are {names}"))
    })?;
    let arguments = Arguments::check(tool.arguments(), given)?;
    match tool {
        Tool::Operators => lists::operators(client).await,
        Tool::Attention => lists::attention(client, &arguments).await,
        Tool::Parents => lists::parents(client, &arguments).await,
        Tool::Explain => show(client, &arguments, Part::Explanation).await,
        Tool::Children => show(client, &arguments, Part::Children).await,
        Tool::Map => around(client, &arguments).await,
        Tool::Diff => show(client, &arguments, Part::Diff).await,
        Tool::Events => show(client, &arguments, Part::Events).await,
        Tool::Activity => happened::activity(client, &arguments).await,
        Tool::Sync => execute(client, &arguments, ParentCommand::Sync).await,
        Tool::Pause => {
            let pause = pausing::given(arguments.text("reason"), arguments.text("for"))?;
            execute(client, &arguments, ParentCommand::Pause(pause)).await
        }
        Tool::Resume => execute(client, &arguments, ParentCommand::Resume).await,
        Tool::AllowDeletions => {
            let code = arguments.text("code").unwrap_or_default().to_owned();
            execute(client, &arguments, ParentCommand::AllowDeletions(code)).await
        }
    }
}

async fn show(client: &Client, arguments: &Arguments, part: Part) -> Result<String, Refused> {
    let path = arguments.parent(client)?;
    client.may(&ApiRequest::parent(&path)).await?;
    let (diff, events) = (Switch(part == Part::Diff), Switch(part == Part::Events));
    let query = ExplainQuery { diff, events };
    let explained = Explained::at(&client.state.board, &path, &query).await?;
    Ok(parent::answer(&explained, part, arguments))
}

async fn around(client: &Client, arguments: &Arguments) -> Result<String, Refused> {
    let path = arguments.parent(client)?;
    client.may(&ApiRequest::map(&path)).await?;
    let map = read(&client.state.board, &path, arguments.text("fields_of")).await?;
    Ok(map::answer(&map, arguments))
}

/// Its line in the audit log is written also when it is refused, or when nobody waits for it any more.
async fn execute(
    client: &Client,
    arguments: &Arguments,
    command: ParentCommand,
) -> Result<String, Refused> {
    let path = arguments.parent(client)?;
    let request = ApiRequest::command(&path, &command);
    let mut entry = client.entry(&request);
    let executed = match client.may(&request).await {
        Ok(()) => {
            let by = client.user().map(str::to_owned);
            command.execute(&path, by, &client.state).await
        }
        Err(refused) => Err(refused),
    };
    match executed {
        Ok(done) => {
            entry.is_answered(done.code);
            Ok(Head::new(&done.message).alone())
        }
        Err(refused) => {
            entry.is_answered(refused.status_code());
            Err(refused)
        }
    }
}
