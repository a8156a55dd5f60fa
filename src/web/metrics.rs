//! `/metrics`: counters, and gauges read from the board at each scrape.

use actix_web::{HttpResponse, web::Data};

use super::state::WebState;
use crate::{
    board::{Board, OperatorSnapshot, OperatorState, TypeSnapshot},
    metrics::{CacheGauges, Metrics},
};

pub(super) async fn show(state: Data<WebState>) -> HttpResponse {
    let WebState { board, metrics, .. } = &**state;
    HttpResponse::Ok().content_type(Metrics::CONTENT_TYPE).body(text(board, metrics))
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
