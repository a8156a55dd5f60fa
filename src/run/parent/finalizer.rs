//! Changes the finalizers of the parent; after a conflict it decides again on a live read.
//!
//! | waits for | answer | next |
//! |---|---|---|
//! | the patch | accepted | the end, with the reply |
//! | | 404 | the end: the parent is gone |
//! | | 409, at most twice | a live read of the parent |
//! | the read | it is paused, has begun to leave, or has stopped leaving | the end, with what was read |
//! | | anything else | the patch again, if it is still needed |

use serde_json::Value;

use crate::{
    object::Object,
    plan::{ChildId, add_finalizer, remove_finalizer},
    reply::{ApiError, ErrorClass},
    run::{
        effect::Cache,
        module_view::View,
        request::{Answer, Reply, Request},
        settings::Settings,
        turn::{Next, Turn},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum FinalizerChange {
    /// Adds ours. Not to a parent that has left: nobody might remove it.
    Add,
    Remove,
}

#[derive(Debug)]
pub(in crate::run) struct Changing {
    change: FinalizerChange,
    parent: Object,
    was_leaving: bool,
    attempt: usize,
}

#[derive(Debug)]
pub(in crate::run) enum AwaitedFinalizer {
    Patched(Changing),
    Looking(Changing),
}

/// It ends with the current parent; `None` when it is gone.
pub(in crate::run) type FinalizerNext = Next<AwaitedFinalizer, Result<Option<Object>, ApiError>>;

const TRIES: usize = 3;

impl FinalizerChange {
    /// The change that a parent may need while it is not leaving.
    pub(in crate::run) fn of_staying(settings: &Settings) -> Self {
        if settings.needs_finalizer { Self::Add } else { Self::Remove }
    }

    pub(in crate::run) fn patch(self, settings: &Settings, parent: &Object) -> Option<Value> {
        let config = settings.config();
        let (name, former) = (config.finalizer_name(), &config.predecessor.finalizers);
        match self {
            Self::Add => {
                settings.selects(parent).then(|| add_finalizer(parent, &name, former)).flatten()
            }
            Self::Remove => remove_finalizer(parent, &name, former),
        }
    }
}

pub(in crate::run) fn begin(
    change: FinalizerChange,
    parent: Object,
    view: &View<'_>,
) -> Turn<FinalizerNext> {
    let was_leaving = view.settings.is_leaving(&parent);
    Changing { change, parent, was_leaving, attempt: 1 }.send(view)
}

pub(in crate::run) fn answered(
    state: AwaitedFinalizer,
    answer: Answer,
    view: &View<'_>,
) -> Turn<FinalizerNext> {
    match state {
        AwaitedFinalizer::Patched(changing) => match Reply::written(answer) {
            Ok(reply) => {
                let cache = if view.settings.answers_for(&reply) {
                    Cache::Wrote(reply.clone())
                } else {
                    // No watch event will follow, so this wakes the own operator too.
                    Cache::Saw(reply.clone())
                };
                Turn::new(Next::Done(Ok(Some(reply)))).cache([cache])
            }
            Err(error) if error.class() == ErrorClass::Missing => Turn::new(Next::Done(Ok(None))),
            Err(error) if error.class() == ErrorClass::Conflict && changing.attempt < TRIES => {
                let request = Request::Read(ChildId::of(&changing.parent));
                Turn::new(Next::Ask(request, AwaitedFinalizer::Looking(changing)))
            }
            Err(error) => Turn::new(Next::Done(Err(error))),
        },
        AwaitedFinalizer::Looking(changing) => match Reply::object(answer) {
            Ok(Some(live)) if live.uid() == changing.parent.uid() => changing.seen(live, view),
            Ok(_) => Turn::new(Next::Done(Ok(None))),
            Err(error) => Turn::new(Next::Done(Err(error))),
        },
    }
}

impl Changing {
    fn send(self, view: &View<'_>) -> Turn<FinalizerNext> {
        match self.change.patch(view.settings, &self.parent) {
            Some(body) => {
                let request = Request::Patch(ChildId::of(&self.parent), body);
                Turn::new(Next::Ask(request, AwaitedFinalizer::Patched(self)))
            }
            None => Turn::new(Next::Done(Ok(Some(self.parent)))),
        }
    }

    fn seen(self, live: Object, view: &View<'_>) -> Turn<FinalizerNext> {
        let seen = Turn::new(()).cache([Cache::Saw(live.clone())]);
        let is_paused = view.paused_by(&live).is_some();
        if is_paused || view.settings.is_leaving(&live) != self.was_leaving {
            return seen.before(Turn::new(Next::Done(Ok(Some(live)))));
        }
        let attempt = self.attempt + 1;
        seen.before(Self { parent: live, attempt, ..self }.send(view))
    }
}
