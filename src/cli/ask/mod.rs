//! The commands that ask a running process over its HTTP API: `status`, `explain`, `pause`, `resume`, `sync` and `allow-deletions`.
//!
//! ```text
//! args --> mod --> server --> (forward) --> the process
//!           |        '--> problem
//!           +--> lists, answers --> status, explain --> age
//! ```
//!
//! Invariants:
//! - what is printed is a function of the answer and the time; only `server` and `forward` do I/O;
//! - a text of the process is escaped before it reaches a terminal;
//! - an error names the process, the object, and what to do.

use std::io::{self, Write};

use crate::object::{OneLine, legible_json, legible_yaml};
use k8s_openapi::jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::{
    answers::{List, Operator},
    args::{AllowArgs, CommandArgs, ExplainArgs, Output, PauseArgs, StatusArgs},
    lists::{all_parents, lacking, named},
    parent::{ParentName, segment},
    problem::Problem,
    server::Server,
};

mod age;
mod answers;
pub(crate) mod args;
mod explain;
mod forward;
mod lists;
mod parent;
mod problem;
mod server;
mod status;

/// The path of all operators.
const OPERATORS: &str = "/api/v1/operators";

/// A command to a running process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Pause,
    Resume,
    Sync,
    AllowDeletions,
}

/// Prints the operators, the parents of one, or one parent.
pub(crate) fn status(args: StatusArgs) -> anyhow::Result<()> {
    let StatusArgs { operator, parent, namespace, phase, output, server } = args;
    block_on(async {
        let server = Server::new(server).await?;
        let Some(operator) = operator else {
            let answer = server.get(OPERATORS).await?;
            eprint!("{}", lacking(&answer));
            return print(&answer, output, |it: &List<_>, now, wide| {
                status::operators(&it.items, now, wide)
            });
        };
        let Some(parent) = parent else {
            let filter = [("namespace", namespace), ("phase", phase)];
            let answer = all_parents(&server, &operator, &filter).await?;
            eprint!("{}", lacking(&answer));
            warn_if_stale(&server, &operator).await?;
            return print(&answer, output, |it: &List<_>, now, wide| {
                if it.items.is_empty() {
                    return format!("The operator {operator} has no such parents.\n");
                }
                status::parents(&it.items, now, wide)
            });
        };
        let answer = details(&server, &operator, &parent, "").await?;
        warn_if_stale(&server, &operator).await?;
        print(&answer, output, |it, now, wide| status::parents(std::slice::from_ref(it), now, wide))
    })
}

/// Prints all that is known about a parent.
pub(crate) fn explain(args: ExplainArgs) -> anyhow::Result<()> {
    let ExplainArgs { operator, parent, diff, events, output, server } = args;
    let query = match (diff, events) {
        (false, false) => "",
        (true, false) => "?diff=1",
        (false, true) => "?events=1",
        (true, true) => "?diff=1&events=1",
    };
    block_on(async {
        let server = Server::new(server).await?;
        let answer = details(&server, &operator, &parent, query).await?;
        print(&answer, output, |it, now, wide| explain::explain(&operator, it, now, wide))
    })
}

/// Sends the command to pause, and prints what the process answers.
pub(crate) fn pause(args: PauseArgs) -> anyhow::Result<()> {
    let PauseArgs { operator, parent, reason, lasting, until, server } = args;
    let said = [("reason", reason), ("for", lasting), ("until", until)];
    let said = said.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
    let of = CommandArgs { operator, parent, server };
    send(Verb::Pause, of, &Value::Object(said.collect()))
}

/// Allows deletions that are held, and prints what the process answers.
pub(crate) fn allow_deletions(args: AllowArgs) -> anyhow::Result<()> {
    let AllowArgs { operator, parent, code, server } = args;
    let of = CommandArgs { operator, parent: Some(parent), server };
    send(Verb::AllowDeletions, of, &json!({"code": code}))
}

/// Sends a command, and prints what the process answers.
pub(crate) fn command(verb: Verb, args: CommandArgs) -> anyhow::Result<()> {
    send(verb, args, &json!({}))
}

fn send(verb: Verb, args: CommandArgs, body: &Value) -> anyhow::Result<()> {
    let CommandArgs { operator, parent, server } = args;
    block_on(async {
        let server = Server::new(server).await?;
        let parents = match (parent, verb) {
            (Some(parent), _) => vec![parent],
            (None, Verb::Pause | Verb::Resume) => {
                let path = format!("{OPERATORS}/{}/{}", segment(&operator), verb.name());
                let done = server.post(&path, body).await;
                return say(&named(&server, &operator, None, done).await?);
            }
            // The process has no command for all parents.
            (None, Verb::Sync | Verb::AllowDeletions) => parents_of(&server, &operator).await?,
        };
        for parent in parents {
            let path = format!("{}/{}", path(&operator, &parent), verb.name());
            let done = server.post(&path, body).await;
            say(&named(&server, &operator, Some(&parent), done).await?)?;
        }
        Ok(())
    })
}

async fn details(
    server: &Server,
    operator: &str,
    parent: &ParentName,
    query: &str,
) -> Result<Value, Problem> {
    let answer = server.get(&format!("{}{query}", path(operator, parent))).await;
    named(server, operator, Some(parent), answer).await
}

/// Says on standard error that the parents of an operator are from before the API server went away.
async fn warn_if_stale(server: &Server, operator: &str) -> Result<(), Problem> {
    let operators: List<Operator> =
        serde_json::from_value(server.get(OPERATORS).await?).unwrap_or_default();
    let stale = operators.items.iter().find(|it| it.name == operator);
    if let Some(stale) = stale.and_then(|it| status::stale(it, Timestamp::now())) {
        eprintln!("{stale}: what follows is from before that");
    }
    Ok(())
}

async fn parents_of(server: &Server, operator: &str) -> Result<Vec<ParentName>, Problem> {
    let answer = all_parents(server, operator, &[]).await?;
    eprint!("{}", lacking(&answer));
    let items = answer["items"].as_array().into_iter().flatten();
    let name =
        |item: &Value| Some(ParentName::new(item["namespace"].as_str(), item["name"].as_str()?));
    Ok(items.filter_map(name).collect())
}

fn path(operator: &str, parent: &ParentName) -> String {
    format!("{OPERATORS}/{}/parents/{}", segment(operator), parent.path())
}

fn print<T: DeserializeOwned>(
    answer: &Value,
    output: Output,
    table: impl FnOnce(&T, Timestamp, bool) -> String,
) -> anyhow::Result<()> {
    let text = match output {
        Output::Json => legible_json(answer)?,
        Output::Yaml => legible_yaml(answer)?,
        Output::Table | Output::Wide => {
            table(&T::deserialize(answer)?, Timestamp::now(), output == Output::Wide)
        }
    };
    Ok(io::stdout().write_all(text.as_bytes())?)
}

fn say(done: &str) -> anyhow::Result<()> {
    Ok(writeln!(io::stdout(), "{}", OneLine(done))?)
}

fn block_on(asking: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(asking)
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Sync => "sync",
            Self::AllowDeletions => "allow-deletions",
        }
    }
}
