//! Waits until a fence is closed, by the time or by a decision, or opened.

use super::boot_clock::election_now;
use crate::election::Fence;

/// Returns when the fence is closed.
pub(super) async fn closed(fence: Fence) {
    let mut moves = fence.moves();
    loop {
        moves.mark_unchanged();
        let now = election_now().boot;
        if !fence.is_open(now) {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(fence.closes_in(now)) => {}
            // It never fails: the fence is kept here.
            _ = moves.changed() => {}
        }
    }
}

/// Returns when the fence is open.
pub(super) async fn opened(fence: Fence) {
    let mut moves = fence.moves();
    loop {
        moves.mark_unchanged();
        if fence.is_open(election_now().boot) {
            return;
        }
        // It never fails: the fence is kept here.
        let _ = moves.changed().await;
    }
}
