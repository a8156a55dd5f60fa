//! The replicas of a parent that a decorator holds: decides what is recorded, and when the parent is scaled.
//!
//! | recorded | the handler holds `n` | it holds nothing |
//! |---|---|---|
//! | nothing | record what there is, scale to `n` | |
//! | `recorded-b-at-a` | at `n`: held; at another number than `b`: record that; scale to `n` | as `held` |
//! | `held-b-at-a` | at `a`: stay, or scale to `n`; at `n`: held there; at another number: overridden | at `a`: scale to `b`; else forget |
//! | `overridden-b-at-a` | at `n`: held again | forget |
//!
//! The record is written before the parent is scaled, and removed after. So a process may end in between.

use crate::operator::{HeldPhase, HeldReplicas};

/// The record to write, and the replicas to which the parent is scaled after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hold {
    pub(super) record: Option<HeldReplicas>,
    pub(super) scale: Option<i32>,
}

/// Decides from the record, the replicas that the handler holds, and the present ones.
pub(super) fn hold(record: Option<HeldReplicas>, wanted: Option<i32>, now: i32) -> Hold {
    match (record, wanted) {
        (None, None) => Hold::default(),
        (Some(record), None) => release(record, now),
        (None, Some(at)) => begin(at, now),
        (Some(record), Some(at)) => keep(record, at, now),
    }
}

fn begin(at: i32, now: i32) -> Hold {
    let phase = if now == at { HeldPhase::Held } else { HeldPhase::Recorded };
    let scale = (now != at).then_some(at);
    Hold { record: Some(HeldReplicas { before: now, at, phase }), scale }
}

fn keep(record: HeldReplicas, at: i32, now: i32) -> Hold {
    let HeldReplicas { before, at: held_at, phase } = record;
    let there =
        Hold { record: Some(HeldReplicas { before, at, phase: HeldPhase::Held }), scale: None };
    match phase {
        _ if now == at => there,
        HeldPhase::Recorded if now == before || now != held_at => begin(at, now),
        HeldPhase::Recorded | HeldPhase::Held if now == held_at => {
            Hold { record: Some(record), scale: Some(at) }
        }
        HeldPhase::Recorded | HeldPhase::Held | HeldPhase::Overridden => {
            let phase = HeldPhase::Overridden;
            Hold { record: Some(HeldReplicas { before, at, phase }), scale: None }
        }
    }
}

fn release(record: HeldReplicas, now: i32) -> Hold {
    let HeldReplicas { before, at, phase } = record;
    if phase != HeldPhase::Overridden && now == at && now != before {
        Hold { record: Some(record), scale: Some(before) }
    } else {
        Hold::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(record: &str, wanted: Option<i32>, now: i32) -> (String, Option<i32>) {
        let Hold { record, scale } = hold(record.parse().ok(), wanted, now);
        (record.map_or_else(String::new, |it| it.to_string()), scale)
    }

    #[test]
    fn each_row_of_the_table() {
        for (record, wanted, now, expected, scale) in [
            ("", None, 3, "", None),
            ("", Some(0), 3, "recorded-3-at-0", Some(0)),
            ("", Some(0), 0, "held-0-at-0", None),
            ("recorded-3-at-0", Some(0), 3, "recorded-3-at-0", Some(0)),
            ("recorded-3-at-0", Some(0), 0, "held-3-at-0", None),
            // Somebody scaled it in between.
            ("recorded-3-at-0", Some(0), 5, "recorded-5-at-0", Some(0)),
            // The handler changed its mind, before or after the parent was scaled.
            ("recorded-3-at-0", Some(1), 3, "recorded-3-at-1", Some(1)),
            ("recorded-3-at-0", Some(1), 0, "recorded-3-at-0", Some(1)),
            ("recorded-3-at-0", None, 3, "", None),
            ("recorded-3-at-0", None, 0, "recorded-3-at-0", Some(3)),
            ("held-3-at-0", Some(0), 0, "held-3-at-0", None),
            ("held-3-at-0", Some(1), 0, "held-3-at-0", Some(1)),
            ("held-3-at-0", Some(1), 1, "held-3-at-1", None),
            ("held-3-at-0", Some(0), 2, "overridden-3-at-0", None),
            ("held-3-at-0", None, 0, "held-3-at-0", Some(3)),
            ("held-3-at-0", None, 3, "", None),
            ("held-3-at-0", None, 2, "", None),
            ("held-0-at-0", None, 0, "", None),
            ("overridden-3-at-0", Some(0), 2, "overridden-3-at-0", None),
            ("overridden-3-at-0", Some(0), 0, "held-3-at-0", None),
            ("overridden-3-at-0", None, 2, "", None),
            ("overridden-3-at-0", None, 0, "", None),
            ("no record", Some(0), 3, "recorded-3-at-0", Some(0)),
        ] {
            let expected = (expected.to_owned(), scale);
            assert_eq!(shown(record, wanted, now), expected, "{record} {wanted:?} {now}");
        }
    }
}
