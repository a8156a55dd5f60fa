//! The tools that list: operators, what needs attention, and parents.

use std::time::SystemTime;

use super::{
    answers::{Head, ago, counted},
    arguments::Arguments,
    client::Client,
    requests::ApiRequest,
};
use crate::{
    board::{Board, OperatorSnapshot, OperatorState, ParentPage, ParentState},
    history::Problem,
    object::ObjectKey,
    web::{attention, explain::why, parents::ParentQuery, severity::PHASES, status::Refused},
};

/// More lines never fit.
const PAGE: usize = 100;

pub(super) async fn operators(client: &Client) -> Result<String, Refused> {
    client.may(&ApiRequest::operators()).await?;
    let operators = client.state.board.operators();
    let head = Head::new(&format!("{}.", counted(operators.len(), "operator", "operators")));
    let head = of_member(head, &client.state.board);
    let lines = operators.iter().map(operator);
    Ok(head.with_lines(lines, 0, "ask for one of them with `attention` or `parents`"))
}

/// Says that there are other processes with other parents, if there are.
fn of_member(head: Head, board: &Board) -> Head {
    match board.group() {
        Some(group) => head.and(&format!(
            "These are of the process {} alone: the others have their own parents.",
            group.member
        )),
        None => head,
    }
}

fn operator(operator: &OperatorSnapshot) -> String {
    let (name, config) = (&operator.info.name, &operator.info.config);
    let (kind, version) = (config.parent.kind(), config.parent.api_version());
    let (state, reasons) = (operator.state.name(), operator.state.reasons());
    let paused = operator.paused.as_ref().map_or("", |_| ", paused by a user");
    let phases = PHASES.iter().filter_map(|phase| Some((phase, operator.parents.get(phase)?)));
    let phases = phases.filter(|(_, count)| **count > 0);
    let phases: Vec<String> =
        phases.map(|(phase, count)| format!("{count} {}", phase.name())).collect();
    let phases = if phases.is_empty() { "none".to_owned() } else { phases.join(", ") };
    let mut parts = vec![format!("{name}: {kind} ({version}), {state}{paused}; parents: {phases}")];
    let children: Vec<&str> = config.children.iter().map(|child| child.ty.kind()).collect();
    if !children.is_empty() {
        parts.push(format!("children: {}", children.join(", ")));
    }
    parts.extend(reasons.iter().cloned());
    parts.join("; ")
}

/// Of the operators whose parents the client may read.
pub(super) async fn attention(client: &Client, arguments: &Arguments) -> Result<String, Refused> {
    let (only, namespace) = (arguments.operator()?, arguments.namespace(client)?);
    let (operators, omitted) = readable(client, only, namespace).await?;
    let (board, now) = (&client.state.board, SystemTime::now());
    let mut lines: Vec<String> = operators.iter().filter_map(not_running).collect();
    lines.extend(operators.iter().filter_map(paused));
    let is_of_all = only.is_none() && namespace.is_none();
    if is_of_all && client.may(&ApiRequest::caches()).await.is_ok() {
        let caches = attention::uncovered_problems(board, &operators).into_iter();
        lines.extend(caches.map(|(cache, why)| format!("cache {}: {why}", cache.store.ty())));
    }
    let mut further = 0;
    for phase in PHASES {
        for operator in &operators {
            let is_wanted =
                |key: &ObjectKey| namespace.is_none_or(|it| key.namespace.as_deref() == Some(it));
            let Some(found) = attention::parents(board, operator, phase, now, is_wanted) else {
                continue;
            };
            further += found.remaining;
            lines.extend(found.items.iter().map(|(key, state)| parent(operator, key, state, now)));
        }
    }
    let head = match lines.len() + further {
        0 => Head::new("Nothing needs attention."),
        total => Head::new(&format!("{} attention.", counted(total, "thing needs", "things need"))),
    };
    let head = match omitted {
        0 => head,
        omitted => head.and(&format!(
            "Without {} that this user may not read.",
            counted(omitted, "operator", "operators")
        )),
    };
    let head = of_member(head, board);
    let question = "ask for one `operator` or one `namespace`, or for its parents with `parents` and a `phase`";
    Ok(head.with_lines(lines, further, question))
}

/// Those whose parents the client may read, and how many others there are.
async fn readable(
    client: &Client,
    only: Option<&str>,
    namespace: Option<&str>,
) -> Result<(Vec<OperatorSnapshot>, usize), Refused> {
    if let Some(name) = only {
        client.may(&ApiRequest::parents(name, namespace)).await?;
        let operator = client.state.board.operator(name);
        return Ok((vec![operator.ok_or_else(|| Refused::NoOperator(name.to_owned()))?], 0));
    }
    let (mut readable, mut refusals) = (Vec::new(), Vec::new());
    for operator in client.state.board.operators() {
        match client.may(&ApiRequest::parents(operator.info.name.as_str(), namespace)).await {
            Ok(()) => readable.push(operator),
            Err(refused) => refusals.push(refused),
        }
    }
    let omitted = refusals.len();
    match refusals.into_iter().next() {
        Some(refused) if readable.is_empty() => Err(refused),
        _ => Ok((readable, omitted)),
    }
}

fn not_running(operator: &OperatorSnapshot) -> Option<String> {
    let (name, state) = (&operator.info.name, &operator.state);
    let reasons = state.reasons().join("; ");
    let reasons = if reasons.is_empty() { "it has not started yet" } else { &reasons };
    (*state != OperatorState::Running)
        .then(|| format!("operator {name} is {}: {reasons}", state.name()))
}

fn paused(operator: &OperatorSnapshot) -> Option<String> {
    let name = &operator.info.name;
    let why = "no child of its parents is written until it is resumed";
    operator.paused.as_ref().map(|_| format!("operator {name} is paused by a user: {why}"))
}

fn parent(
    operator: &OperatorSnapshot,
    key: &ObjectKey,
    state: &ParentState,
    now: SystemTime,
) -> String {
    let since = state.history.since().map(|at| format!(" since {}", ago(at, now)));
    let (name, kind) = (&operator.info.name, operator.info.config.parent.kind());
    let (phase, since) = (state.phase.name(), since.unwrap_or_default());
    let words = why(operator, key, state).first().map(brief).unwrap_or_default();
    format!("{kind} {key} of {name}: {phase}{since}. {words}")
}

/// What is wrong, the first evidence, and what to do.
fn brief(problem: &Problem) -> String {
    let why = problem.because.first().map(|why| format!("; {why}")).unwrap_or_default();
    let order = problem.first_action().map(|action| format!("; do this: {}", action.as_order()));
    format!("{}{why}{}", problem.what, order.unwrap_or_default())
}

pub(super) async fn parents(client: &Client, arguments: &Arguments) -> Result<String, Refused> {
    let operator = arguments.operator()?.unwrap_or_default();
    let namespace = arguments.namespace(client)?;
    client.may(&ApiRequest::parents(operator, namespace)).await?;
    let filter = ParentQuery::new(namespace, arguments.text("phase"), arguments.text("text"));
    let (filter, board) = (filter.check()?, &client.state.board);
    let unknown = || Refused::NoOperator(operator.to_owned());
    let kind = board.operator(operator).ok_or_else(unknown)?.info.config.parent;
    let page = board.parents(operator, &filter, None, PAGE).ok_or_else(unknown)?;
    let ParentPage { items, has_more, total } = page;
    // Where it is not counted, at least one more is known.
    let further = if has_more { total.unwrap_or(0).saturating_sub(items.len()).max(1) } else { 0 };
    let (count, kind) = (items.len() + further, kind.kind());
    let at_least = if has_more && total.is_none() { "at least " } else { "" };
    let head = Head::new(&format!(
        "{at_least}{} of {operator}, each a {kind}.",
        counted(count, "parent", "parents")
    ));
    let head = of_member(head, board);
    let line = |(key, state): &(ObjectKey, ParentState)| match &state.message {
        Some(message) => format!("{key}: {}: {message}", state.phase.name()),
        None => format!("{key}: {}", state.phase.name()),
    };
    let question = "ask for a `namespace`, a `phase` or a `text` in the name";
    Ok(head.with_lines(items.iter().map(line), further, question))
}
