//! Children that are not ready, and whoever waits for them.

use super::{kubectl, trouble::Trouble};
use crate::{
    history::Action,
    journal::{Behind, NotReady, RolloutStopped, StageTimeout},
    object::Quoted,
    plan::ChildId,
};

pub(super) fn stage(StageTimeout { stage, within, child, why }: &StageTimeout) -> Trouble {
    let seconds = within.as_secs_f64();
    not_ready(child, why)
        .because(format!("stage {stage} waits for it, and was to be ready within {seconds} s"))
}

pub(super) fn rollout(stopped: &RolloutStopped, parent: &ChildId) -> Trouble {
    let RolloutStopped { ty, updated, children, child, why } = stopped;
    let edit = Action::command(
        "Correct the change in the parent, or take it back",
        kubectl::on("edit", parent),
    );
    let trouble = Trouble::of(child, format!("is not ready: {why}")).cured_by([edit, look(child)]);
    trouble.unready().because(format!(
        "the rollout of {} has stopped at {updated} of {children} because of it",
        ty.kind()
    ))
}

/// What a later child waits for.
pub(super) fn behind(waiting: &ChildId, Behind { child, why, .. }: &Behind) -> Trouble {
    not_ready(child, why).because(format!("{} {} waits for it", waiting.ty.kind(), waiting.key))
}

pub(super) fn parent(parent: &ChildId, not_ready: &NotReady) -> Vec<Trouble> {
    match not_ready {
        NotReady::Handler(why) => vec![
            Trouble::of(parent, format!("is not ready: {why}"))
                .because("its handler says so")
                .cured_by([Action::text("Do what the handler names; all children are up to date")]),
        ],
        NotReady::Children { first, more: _ } => {
            first.iter().map(|(child, why)| self::not_ready(child, why)).collect()
        }
    }
}

fn not_ready(child: &ChildId, why: &Quoted) -> Trouble {
    Trouble::of(child, format!("is not ready: {why}")).cured_by([look(child)]).unready()
}

fn look(child: &ChildId) -> Action {
    Action::command("Look at what it reports", kubectl::on("describe", child))
}
