//! What a cause is.

use futures::future::LocalBoxFuture;

use super::{
    handler,
    rig::{Place, Rig},
};
use crate::{recipe::RECIPE, world::Kind};

/// Something that somebody does.
pub(super) type Step = for<'a> fn(&'a Place<'a>) -> LocalBoxFuture<'a, ()>;

/// A cause.
pub(super) struct Cause {
    /// As in the table.
    pub(super) name: &'static str,
    /// What the first line has to contain.
    pub(super) names: &'static [&'static str],
    pub(super) plant: Step,
    pub(super) parent: Parent,
    /// The expression of sed by which a user corrects what an editor shows.
    pub(super) edit: &'static str,
    /// What others do while the command runs.
    pub(super) meanwhile: Option<Step>,
    /// What others do when the command has been run, such as a scheduler that no test has.
    pub(super) then: Option<Step>,
    pub(super) cured: Cured,
    pub(super) end: End,
}

/// The parent of a cause. One without a namespace has the name of the place.
#[derive(Clone, Copy)]
pub(super) struct Parent {
    pub(super) operator: &'static str,
    pub(super) kind: Kind,
    pub(super) name: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cured {
    /// By the first command, as it is printed.
    ByCommand,
    /// Only by what others do then: no command can.
    ByOthers,
}

/// What becomes of the parent.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The parent with this name is ready.
    Ready(&'static str),
    /// It is gone.
    Gone,
}

/// Causes under the same operators.
pub(super) struct Group {
    pub(super) start: fn() -> LocalBoxFuture<'static, Rig>,
    pub(super) causes: Vec<Cause>,
}

/// A cause of a parent named `r` that an edit of it cures.
pub(super) const fn edited(
    name: &'static str,
    names: &'static [&'static str],
    edit: &'static str,
    plant: Step,
) -> Cause {
    let parent = Parent { operator: handler::NAME, kind: RECIPE, name: "r" };
    let (cured, end) = (Cured::ByCommand, End::Ready("r"));
    Cause { name, names, plant, parent, edit, meanwhile: None, then: None, cured, end }
}

/// A cause that a command without an editor cures.
pub(super) const fn commanded(
    name: &'static str,
    names: &'static [&'static str],
    plant: Step,
) -> Cause {
    edited(name, names, "", plant)
}

/// A cause that no command cures: others do this.
pub(super) const fn by_others(
    name: &'static str,
    names: &'static [&'static str],
    plant: Step,
    then: Step,
) -> Cause {
    Cause { cured: Cured::ByOthers, then: Some(then), ..commanded(name, names, plant) }
}

impl Cause {
    /// Others do this then.
    pub(super) const fn then(self, then: Step) -> Self {
        Self { then: Some(then), ..self }
    }

    /// It is a parent of another operator, or has another name.
    pub(super) const fn of(self, parent: Parent) -> Self {
        Self { end: End::Ready(parent.name), parent, ..self }
    }
}
