//! The tables of `status`: pure, from answers of the HTTP API.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;

use super::{
    age::{ago, ahead},
    answers::{Operator, Parent, Pause},
};
use crate::cli::table::{Table, message};

/// A line for each operator.
pub(super) fn operators(operators: &[Operator], now: Timestamp, is_wide: bool) -> String {
    let mut table = Table::new(&[
        "NAME", "STATE", "PARENTS", "PHASES", "KIND", "RUNNING", "WAITING", "MESSAGE",
    ]);
    for operator in operators {
        let wide = |text: String| if is_wide { text } else { String::new() };
        let queue = operator.queue.as_ref();
        let running = queue.map(|queue| format!("{}/{}", queue.running, queue.limit));
        let waiting = queue.map(|queue| queue.waiting.values().sum::<usize>().to_string());
        table.row([
            operator.name.clone(),
            state(operator),
            operator.parents.values().sum::<usize>().to_string(),
            phases(&operator.parents),
            wide(operator.parent.kind.clone()),
            wide(running.unwrap_or_default()),
            wide(waiting.unwrap_or_default()),
            message(&about(operator, now), is_wide),
        ]);
    }
    table.print()
}

/// A line for each parent.
pub(super) fn parents(parents: &[Parent], now: Timestamp, is_wide: bool) -> String {
    let mut table = Table::new(&[
        "NAME",
        "PHASE",
        "FAILURES",
        "RECONCILES",
        "LAST",
        "NEXT",
        "OUTCOME",
        "TOOK",
        "CAUSE",
        "MESSAGE",
    ]);
    for parent in parents {
        let wide = |text: String| if is_wide { text } else { String::new() };
        let last = parent.last_reconcile.as_ref();
        let next = parent.next_wake.as_ref();
        table.row([
            key(parent),
            parent.phase.clone(),
            if parent.failures > 0 { parent.failures.to_string() } else { String::new() },
            parent.reconciles.to_string(),
            last.map(|last| ago(&last.started, now)).unwrap_or_default(),
            next.map(|next| ahead(&next.at, now)).unwrap_or_default(),
            wide(last.map(|last| last.outcome.result.clone()).unwrap_or_default()),
            wide(
                last.map(|last| format!("{:.1}ms", last.duration_milliseconds)).unwrap_or_default(),
            ),
            wide(
                last.and_then(|it| it.causes.first())
                    .map(|it| it.message.clone())
                    .unwrap_or_default(),
            ),
            message(&about_parent(parent, now), is_wide),
        ]);
    }
    table.print()
}

/// `namespace/name`, as the commands take it.
pub(super) fn key(parent: &Parent) -> String {
    match &parent.namespace {
        Some(namespace) => format!("{namespace}/{}", parent.name),
        None => parent.name.clone(),
    }
}

fn state(operator: &Operator) -> String {
    let is_standby = operator.leadership.as_ref().is_some_and(|it| !it.leads);
    match (&operator.pause, is_standby) {
        (Some(_), _) => format!("{}, paused", operator.state),
        (None, true) => format!("{}, standby", operator.state),
        (None, false) => operator.state.clone(),
    }
}

fn about(operator: &Operator, now: Timestamp) -> String {
    let stale = stale(operator, now);
    let paused = operator.pause.as_ref().map(|pause| paused(pause, now));
    let leadership = operator.leadership.as_ref().filter(|it| !it.leads);
    let leader =
        leadership.and_then(|it| it.holder.as_ref()).map(|it| format!("the leader is {it}"));
    let share = operator.leadership.as_ref().filter(|it| it.leads).and_then(|it| it.share.clone());
    let leader = leader.or(share);
    let migration = operator.migration.as_ref().filter(|it| it.state != "complete");
    let migration = migration.map(|it| it.message.clone());
    let parts = stale.into_iter().chain(paused).chain(leader).chain(migration);
    let parts = parts.chain(operator.reasons.iter().cloned());
    parts.collect::<Vec<_>>().join("; ")
}

/// That what is known of an operator is as old as the silence of the API server.
pub(super) fn stale(operator: &Operator, now: Timestamp) -> Option<String> {
    let since = operator.unreachable_since.as_ref()?;
    Some(format!("STALE: the API server has not answered for {}", ago(since, now)))
}

fn about_parent(parent: &Parent, now: Timestamp) -> String {
    let paused = parent.pause.as_ref().map(|pause| paused(pause, now));
    let parts: Vec<_> = paused.into_iter().chain(parent.message.clone()).collect();
    parts.join("; ")
}

/// Who paused something, when, until when and why.
pub(super) fn paused(pause: &Pause, now: Timestamp) -> String {
    let Pause { by, since, until, reason } = pause;
    let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let since = since.as_ref().map(|at| format!(" {} ago", ago(at, now))).unwrap_or_default();
    let until = until.as_ref().map(|at| format!(" for another {}", ahead(at, now)));
    let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("paused{by}{since}{}{reason}", until.unwrap_or_default())
}

fn phases(parents: &BTreeMap<String, usize>) -> String {
    let some = parents.iter().filter(|(_, count)| **count > 0);
    some.map(|(phase, count)| format!("{count} {phase}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-01-01T12:00:00Z";

    fn shown_operators(of: Value, is_wide: bool) -> String {
        let answers: Vec<Operator> = serde_json::from_value(of).unwrap();
        operators(&answers, NOW.parse().unwrap(), is_wide)
    }

    #[test]
    fn operators_are_shown_with_their_parents_by_phase() {
        let cook = json!({
            "name": "cook", "state": "degraded", "reasons": ["cannot list pods"],
            "parent": {"kind": "Menu"}, "parents": {"ready": 12, "failing": 1, "stalled": 0},
            "queue": {"running": 1, "limit": 16, "waiting": {"change": 2, "background": 1}},
        });
        let waiter = json!({
            "name": "waiter", "state": "running",
            "pause": {"since": "2026-01-01T11:59:00.000Z", "by": "ann"},
        });
        let both = json!([cook, waiter]);
        assert_eq!(
            shown_operators(both.clone(), false),
            "NAME     STATE             PARENTS   PHASES                MESSAGE\n\
             cook     degraded          13        1 failing, 12 ready   cannot list pods\n\
             waiter   running, paused   0                               paused by ann 60s ago\n"
        );
        let wide = shown_operators(both, true);
        assert!(wide.contains("KIND   RUNNING   WAITING"), "{wide}");
        assert!(wide.contains("Menu   1/16      3"), "{wide}");
    }

    #[test]
    fn a_paused_parent_names_who_paused_it_why_and_for_how_long() {
        let pause = json!({
            "by": "ann", "since": "2026-01-01T11:00:00Z", "until": "2026-01-01T14:00:00Z",
            "reason": "the oven is cleaned",
        });
        let parent = json!({"name": "menu", "message": "1 write is pending", "pause": pause});
        let parent: Parent = serde_json::from_value(parent).unwrap();
        assert_eq!(
            about_parent(&parent, NOW.parse().unwrap()),
            "paused by ann 60m ago for another 120m: the oven is cleaned; 1 write is pending"
        );
        assert_eq!(paused(&Pause::default(), NOW.parse().unwrap()), "paused");
    }

    #[test]
    fn what_is_older_than_the_silence_of_the_api_server_is_marked() {
        let of = json!([{
            "name": "cook", "state": "running", "unreachableSince": "2026-01-01T11:59:00.000Z",
        }]);
        let shown = shown_operators(of, false);
        assert!(shown.contains("STALE: the API server has not answered for 60s"), "{shown}");
    }

    #[test]
    fn a_standby_names_the_leader() {
        let leadership = json!({"leads": false, "holder": "pod-1"});
        let of = json!([{"name": "cook", "state": "running", "leadership": leadership}]);
        let shown = shown_operators(of, false);
        assert!(shown.contains("running, standby"), "{shown}");
        assert!(shown.contains("the leader is pod-1"), "{shown}");
    }

    #[test]
    fn a_migration_is_shown_until_it_is_complete() {
        let shown = |state: &str| {
            let migration = json!({"state": state, "message": "migrating from v1alpha1 to v1"});
            let of = json!([{"name": "cook", "state": "running", "migration": migration}]);
            shown_operators(of, false).contains("migrating from v1alpha1 to v1")
        };
        assert!(shown("running") && shown("waiting") && !shown("complete"));
    }

    #[test]
    fn parents_are_shown_with_what_they_wait_for() {
        let failing = json!({
            "namespace": "shop", "name": "menu", "phase": "failing", "failures": 3, "reconciles": 4,
            "message": "no oven",
            "nextWake": {"at": "2026-01-01T12:00:02.000Z", "why": "Retry"},
            "lastReconcile": {
                "number": 4, "started": "2026-01-01T11:59:58.000Z", "durationMilliseconds": 1.5,
                "causes": [{"reason": "Retry", "message": "its backoff has passed"}],
                "outcome": {"result": "Failed", "reason": "HandlerFailed", "message": "no oven"},
                "decisions": [], "unchanged": 0, "stepMilliseconds": {}, "wroteStatus": true,
            },
        });
        let new = json!({"name": "global", "phase": "pending"});
        let answers: Vec<Parent> = serde_json::from_value(json!([failing, new])).unwrap();
        let now = NOW.parse().unwrap();
        assert_eq!(
            parents(&answers, now, false),
            "NAME        PHASE     FAILURES   RECONCILES   LAST   NEXT   MESSAGE\n\
             shop/menu   failing   3          4            2s     2s     no oven\n\
             global      pending              0\n"
        );
        let wide = parents(&answers, now, true);
        assert!(wide.contains("Failed    1.5ms   its backoff has passed   no oven"), "{wide}");
    }
}
