//! `/metrics`: counters, and gauges read from the board at each scrape.

use actix_web::{HttpRequest, HttpResponse, web::Data};

use super::{accept::prefers, state::WebState};
use crate::{
    board::{Board, OperatorSnapshot, OperatorState, TypeSnapshot},
    metrics::{CacheGauges, Metrics},
};

/// The media type of `OpenMetrics`.
const OPENMETRICS: &str = "application/openmetrics-text";

/// `OpenMetrics` for who prefers it, as a Prometheus server does; text for all others.
pub(super) async fn show(state: Data<WebState>, request: HttpRequest) -> HttpResponse {
    let WebState { board, metrics, .. } = &**state;
    let (media_type, body) = if prefers(request.headers(), OPENMETRICS, "text/plain") {
        (Metrics::OPENMETRICS_TYPE, openmetrics(board, metrics))
    } else {
        (Metrics::CONTENT_TYPE, text(board, metrics))
    };
    HttpResponse::Ok().content_type(media_type).body(body)
}

pub(super) fn openmetrics(board: &Board, metrics: &Metrics) -> String {
    set_gauges(board, metrics);
    metrics.render_openmetrics()
}

pub(super) fn text(board: &Board, metrics: &Metrics) -> String {
    set_gauges(board, metrics);
    metrics.render()
}

fn set_gauges(board: &Board, metrics: &Metrics) {
    for OperatorSnapshot { info, state, paused, parents, leadership: _, restarts: _ } in
        board.operators()
    {
        metrics.operator_up(&info.name, state == OperatorState::Running);
        for (namespace, is_up) in board.declared_namespaces(info.name.as_str()) {
            metrics.namespace_up(&info.name, (&namespace, is_up));
        }
        metrics.operator_paused(&info.name, paused.is_some());
        metrics.oldest_pause(&info.name, board.oldest_pause(info.name.as_str()));
        metrics.undeclared(&info.name, &board.undeclared(info.name.as_str()));
        for (phase, count) in parents {
            metrics.parents(&info.name, phase.name(), count);
        }
    }
    for TypeSnapshot { store, state } in board.types() {
        let gauges = CacheGauges {
            objects: store.len(),
            bytes: store.bytes(),
            undecodable: store.count_undecodable(|_| true),
            is_synced: store.is_synced(),
            last_event: state.last_event,
        };
        metrics.cache(store.ty(), gauges);
    }
    for (ty, problems) in board.related_problems() {
        metrics.related_synced(&ty, problems.is_empty());
    }
    for (ty, size) in board.related_sizes() {
        metrics.related(&ty, size);
    }
}
