//! `/livez` and `/readyz`, in the style of the Kubernetes API server.
//!
//! The process is alive while its runtime and actors send heartbeats (a reconciler shares its thread
//! with an actor that does).
//!
//! The process is ready once every operator is running, or is degraded with a reason: one operator
//! without its CRD must not take the others out of service. `/readyz/{operator}` checks a single one.

use std::{fmt::Write as _, time::Instant};

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};

use super::{state::WebState, status::Refused, tls::Certificates};
use crate::{
    board::{
        BEAT_DEADLINE, Beat, Board, Leadership, NamespaceState, OperatorInfo, OperatorRestarts,
        OperatorSnapshot, OperatorState, TypeError, TypeSnapshot,
    },
    object::{K8sType, OneLine},
    operator::Namespaces,
    plan::WantedBy,
};

/// One line of the answer.
#[derive(Debug, PartialEq, Eq)]
struct Check {
    name: String,
    is_good: bool,
    /// Whether the process is unhealthy when this is not good.
    decides: bool,
    text: String,
}

pub(super) async fn live(request: HttpRequest, state: Data<WebState>) -> HttpResponse {
    answer(&request, "livez", &live_checks(&state.board, Instant::now()))
}

pub(super) async fn ready(request: HttpRequest, state: Data<WebState>) -> HttpResponse {
    let mut checks = process_checks(&state.board);
    checks.extend(Check::certificate(&request));
    answer(&request, "readyz", &checks)
}

pub(super) async fn operator_ready(
    request: HttpRequest,
    name: Path<String>,
    state: Data<WebState>,
) -> Result<HttpResponse, Refused> {
    let name = name.into_inner();
    let checks = operator_checks(&state.board, &name).ok_or(Refused::NoOperator(name))?;
    Ok(answer(&request, "readyz", &checks))
}

/// A hung actor or runtime does not recover, so the process has to be restarted.
fn live_checks(board: &Board, now: Instant) -> Vec<Check> {
    let beats = board.beats(now);
    [Check::of("ping", true, None)].into_iter().chain(beats.iter().map(Check::beat)).collect()
}

pub(super) fn is_alive(board: &Board, now: Instant) -> bool {
    is_healthy(&live_checks(board, now))
}

fn is_healthy(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.is_good || !check.decides)
}

fn process_checks(board: &Board) -> Vec<Check> {
    let operators = board.operators();
    let undeclared = operators.iter().filter_map(|operator| Check::undeclared(board, operator));
    let restarts: Vec<Check> = operators.iter().filter_map(Check::restarts).collect();
    let operators = operators.iter().map(|operator| {
        let is_settled = operator.state.is_settled();
        Check { decides: !is_settled, ..Check::operator(operator) }
    });
    let types = board.types();
    let types = types.iter().map(|ty| Check::ty(ty, &Namespaces::All));
    let reads = board.webhook_reads();
    let reads = reads.iter().map(Check::webhooks_read);
    let related = board.related_problems();
    let related = related.iter().map(|(ty, problems)| Check::related(ty, problems));
    let mode = board.is_plan_only().then(|| Check {
        name: "mode".to_owned(),
        is_good: true,
        decides: false,
        text: "plan mode: nothing is written".to_owned(),
    });
    let checks = [Check::shutdown(board)].into_iter().chain(Check::credentials(board));
    let checks = checks.chain(mode).chain(operators);
    checks.chain(restarts).chain(undeclared).chain(types).chain(related).chain(reads).collect()
}

fn operator_checks(board: &Board, name: &str) -> Option<Vec<Check>> {
    let operator = board.operator(name)?;
    let config = &operator.info.config;
    let types = config.children.iter().map(|child| &child.ty).chain([&config.parent]);
    let types = types.filter_map(|ty| board.type_state(ty));
    let types = types.map(|ty| Check::ty(&ty, &config.namespaces));
    let is_read = |ty: &K8sType| config.related.iter().any(|related| related.ty == *ty);
    let related = board.related_problems().into_iter().filter(|(ty, _)| is_read(ty));
    let related = related.map(|(ty, problems)| Check::related(&ty, &problems));
    let checks = [Check::shutdown(board), Check::operator(&operator)].into_iter();
    let checks = checks.chain(Check::restarts(&operator));
    Some(checks.chain(Check::undeclared(board, &operator)).chain(types).chain(related).collect())
}

fn answer(request: &HttpRequest, name: &str, checks: &[Check]) -> HttpResponse {
    let is_healthy = is_healthy(checks);
    let code = if is_healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = if is_healthy && !is_verbose(request) {
        "ok".to_owned()
    } else {
        listed(name, is_healthy, checks)
    };
    HttpResponse::build(code).content_type("text/plain; charset=utf-8").body(body)
}

/// `?verbose`, with any value or none.
fn is_verbose(request: &HttpRequest) -> bool {
    let mut parameters = request.query_string().split('&');
    parameters.any(|parameter| parameter.split('=').next() == Some("verbose"))
}

fn listed(name: &str, is_healthy: bool, checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { name, is_good, decides: _, text: why } in checks {
        let sign = if *is_good { '+' } else { '-' };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "[{sign}]{name} {}", OneLine(why));
    }
    let result = if is_healthy { "passed" } else { "failed" };
    let _ = writeln!(text, "{name} check {result}");
    text
}

impl Check {
    /// Good unless there is a problem.
    fn of(name: impl Into<String>, decides: bool, problem: Option<String>) -> Self {
        let (name, is_good) = (name.into(), problem.is_none());
        Self { name, is_good, decides, text: problem.unwrap_or_else(|| "ok".to_owned()) }
    }

    fn beat(beat: &Beat) -> Self {
        let (age, deadline) = (beat.age.as_secs(), BEAT_DEADLINE.as_secs());
        let late = || format!("sent no heartbeat for {age} s; its deadline is {deadline} s");
        Self::of(&beat.name, true, beat.is_late().then(late))
    }

    fn shutdown(board: &Board) -> Self {
        let stopping = board.is_stopping().then(|| "the process is stopping".to_owned());
        Self::of("shutdown", true, stopping)
    }

    /// What is wrong with the credentials: without them no operator can do anything.
    fn credentials(board: &Board) -> Option<Self> {
        board.credential_problem().map(|why| Self::of("credentials", true, Some(why)))
    }

    /// The certificate of an endpoint over TLS. If it cannot be replaced, the old one stays in use.
    fn certificate(request: &HttpRequest) -> Option<Self> {
        let certificates = request.app_data::<Option<Certificates>>()?.as_ref()?;
        Some(Self::of("certificate", false, certificates.problem()))
    }

    fn operator(operator: &OperatorSnapshot) -> Self {
        let OperatorSnapshot { info, state, paused, leadership, restarts: _, parents: _ } =
            operator;
        let standby = leadership.as_ref().and_then(Leadership::sentence);
        let text = match state {
            OperatorState::Running if let Some(standby) = standby => standby,
            OperatorState::Running if paused.is_some() => {
                "paused by a user: only statuses are written".to_owned()
            }
            OperatorState::Running => "ok".to_owned(),
            OperatorState::Starting { waiting_for } if waiting_for.is_empty() => {
                "starting".to_owned()
            }
            OperatorState::Starting { waiting_for } => {
                format!("starting: waiting for {}", waiting_for.join(", "))
            }
            OperatorState::Degraded { reasons } if reasons.is_empty() => {
                "degraded: no reason is given".to_owned()
            }
            OperatorState::Degraded { reasons } => format!("degraded: {}", reasons.join("; ")),
        };
        let is_good = *state == OperatorState::Running;
        Self { name: format!("operator/{}", info.name), is_good, decides: true, text }
    }

    /// The restarts of an operator, if there were any. It does not decide readiness.
    fn restarts(operator: &OperatorSnapshot) -> Option<Self> {
        let OperatorRestarts { count, last, why } = operator.restarts.as_ref()?;
        let ago = last.elapsed().unwrap_or_default().as_secs();
        let text = format!("{count} after a panic, the last {ago} s ago: {why}");
        let name = format!("restarts/{}", operator.info.name);
        Some(Self { name, is_good: true, decides: false, text })
    }

    /// The status fields that the parent type does not declare, if any. The check fails if a handler
    /// returned one, and does not decide readiness.
    fn undeclared(board: &Board, operator: &OperatorSnapshot) -> Option<Self> {
        let OperatorInfo { name, config, .. } = &operator.info;
        let fields = board.undeclared(name.as_str());
        let is_good = fields.iter().all(|field| field.wanted_by == WantedBy::Framework);
        let named: Vec<String> = fields.iter().map(ToString::to_string).collect();
        let ty = config.parent.resource_name();
        let text = format!("not written, because {ty} does not declare them: {}", named.join(", "));
        let check = Self { name: format!("status/{name}"), is_good, decides: false, text };
        (!fields.is_empty()).then_some(check)
    }

    /// The problems of a type in the given namespaces. It decides only through the operators that need it.
    fn ty(ty: &TypeSnapshot, namespaces: &Namespaces) -> Self {
        let TypeSnapshot { store, state } = ty;
        let mut problems: Vec<String> = if state.namespaces.is_empty() {
            problem(store.is_synced(), state.error.as_ref()).into_iter().collect()
        } else {
            let all = state.namespaces.iter();
            let included = all.filter(|one| namespaces.include(one.namespace.as_deref()));
            included.filter_map(problem_of_namespace).collect()
        };
        problems.extend(problems_with_objects(ty, namespaces));
        let problems = (!problems.is_empty()).then(|| problems.join("; "));
        Self::of(format!("type/{}", store.ty().resource_name()), false, problems)
    }

    /// A type that webhooks read: before its first list they cannot answer.
    fn webhooks_read(ty: &TypeSnapshot) -> Self {
        let TypeSnapshot { store, state } = ty;
        let (is_listed, name) = (store.is_synced(), store.ty().resource_name());
        Self::of(format!("webhooks/{name}"), !is_listed, problem(is_listed, state.error.as_ref()))
    }

    /// The problems of the related objects of a type. It decides only through the operators that read them.
    fn related(ty: &K8sType, problems: &[String]) -> Self {
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        Self::of(format!("related/{}", ty.resource_name()), false, problem)
    }
}

fn problem_of_namespace(one: &NamespaceState) -> Option<String> {
    let problem = problem(one.synced, one.error.as_ref())?;
    Some(match &one.namespace {
        Some(namespace) => format!("namespace {namespace}: {problem}"),
        None => problem,
    })
}

fn problems_with_objects(ty: &TypeSnapshot, namespaces: &Namespaces) -> Vec<String> {
    let TypeSnapshot { store, state } = ty;
    let undecodable = store.count_undecodable(|namespace| namespaces.include(namespace));
    let path = format!("/api/v1/cache/{}", store.ty().resource_name());
    let undecodable = match undecodable {
        0 => None,
        1 => Some(format!("1 object cannot be decoded and is ignored: see {path}")),
        many => Some(format!("{many} objects cannot be decoded and are ignored: see {path}")),
    };
    let held = state.deletions_held.then(|| {
        "the API server returned an earlier resourceVersion (a restored backup, or a stale answer): \
         deletions of the type are held for a while"
            .to_owned()
    });
    undecodable.into_iter().chain(held).collect()
}

fn problem(is_synced: bool, error: Option<&TypeError>) -> Option<String> {
    match error {
        None if is_synced => None,
        None => Some("not synced: the first list is not complete yet".to_owned()),
        Some(TypeError { message, permission: None }) => Some(format!("failed: {message}")),
        Some(TypeError { message, permission: Some(permission) }) => {
            Some(format!("failed: {message} (permission needed: {permission})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_process_is_not_alive_when_an_actor_sends_no_heartbeat_within_its_deadline() {
        let (board, start) = (Board::new(), Instant::now());
        let [stuck, well] = ["reflector/pods", "runtime"].map(|n| board.pulse(n.to_owned(), start));
        let now = start + BEAT_DEADLINE + Duration::from_secs(7);
        well.beat(now);
        let shown = |checks: Vec<Check>| listed("livez", false, &checks);
        assert_eq!(
            shown(live_checks(&board, now)),
            "[+]ping ok\n[-]reflector/pods sent no heartbeat for 37 s; its deadline is 30 s\n\
             [+]runtime ok\nlivez check failed\n"
        );
        assert!(!is_alive(&board, now));
        stuck.beat(now);
        assert!(live_checks(&board, now).iter().all(|check| check.is_good));
        assert!(is_alive(&board, now));
    }
}
