//! Puts labels and annotations, or status fields, on a parent that the operator does not own, by
//! server-side apply; and scales it, once it is recorded there how many replicas it had.
//!
//! | waits for | answer | next |
//! |---|---|---|
//! | the apply | the object | the end, or to scale |
//! | | 409, others own fields | the end: a conflict, remembered until the parent changes |
//! | | 404 or another 409, at most twice | a live read of the parent |
//! | to scale | it is scaled, or 404 or 409 | a live read of the parent, at most three times |
//! | the read | it is gone, is another one, or is paused | the end |
//! | | anything else | the apply again, if it is still needed |

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::time::text;
use crate::{
    diff::hash,
    journal::{Decorated, Fact, ParentConflict},
    object::Object,
    operator::Decoration,
    plan::{ChildId, DecorationWrite, HeldDecoration, HeldField, status_write},
    reply::{ApiError, ErrorClass},
    run::{
        child::held,
        drift,
        effect::Cache,
        module_view::View,
        request::{Answer, DryRun, Force, Reply, Request},
        turn::{Next, Turn, step_failed},
    },
};

const TRIES: usize = 3;

/// What is put on the parent.
#[derive(Debug, Clone)]
pub(in crate::run) enum WantedDecoration {
    Metadata(Decoration),
    /// The fields that the handler returned; none if they are to be removed.
    Status(Option<super::status::ReturnedStatus>),
}

#[derive(Debug)]
pub(in crate::run) struct Applying {
    wanted: WantedDecoration,
    parent: Object,
    write: DecorationWrite,
    attempt: usize,
}

#[derive(Debug)]
pub(in crate::run) struct Try {
    wanted: WantedDecoration,
    parent: Object,
    number: usize,
}

#[derive(Debug)]
pub(in crate::run) enum AwaitedDecoration {
    Applied(Applying),
    /// To this number of replicas.
    Scaled(Try, i32),
    Looking(Try),
}

pub(in crate::run) type DecorationNext = Next<Box<AwaitedDecoration>, ()>;

pub(in crate::run) fn begin(wanted: WantedDecoration, view: &View<'_>) -> Turn<DecorationNext> {
    let parent = view.parent_now().unwrap_or_else(|| view.parent.clone());
    wanted.send(parent, 1, view)
}

pub(in crate::run) fn answered(
    state: AwaitedDecoration,
    answer: Answer,
    view: &View<'_>,
) -> Turn<DecorationNext> {
    match state {
        AwaitedDecoration::Applied(applying) => match Reply::written(answer) {
            Ok(reply) => applying.applied(reply, view),
            Err(error) => applying.refused(error, view),
        },
        AwaitedDecoration::Scaled(attempt, replicas) => match answer {
            Ok(_) => {
                let scaled = scaled(&attempt.parent, replicas);
                attempt.look().note(scaled)
            }
            Err(error) => attempt.scale_refused(error),
        },
        AwaitedDecoration::Looking(attempt) => match Reply::object(answer) {
            Ok(Some(live)) if live.uid() == attempt.parent.uid() => attempt.seen(live, view),
            // The watch reports it.
            Ok(_) => done(),
            Err(error) => done().note(step_failed(attempt.wanted.what(), error)),
        },
    }
}

impl WantedDecoration {
    fn what(&self) -> &'static str {
        match self {
            Self::Metadata(_) => "the labels and annotations of the parent",
            Self::Status(_) => "the status fields of the parent",
        }
    }

    fn write(&self, parent: &Object, view: &View<'_>) -> Option<DecorationWrite> {
        let name = view.settings.name();
        match self {
            Self::Metadata(decoration) => decoration.write(parent, name),
            Self::Status(returned) => {
                let returned = returned.as_ref().map(|returned| &returned.0);
                status_write(returned, parent, name, &text(view.now.wall))
            }
        }
    }

    fn is_status(&self) -> bool {
        matches!(self, Self::Status(_))
    }

    /// A hash of what is to be on this parent.
    fn hash(&self, parent: &Object, view: &View<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Self::Metadata(decoration) => {
                (decoration, decoration.record(parent, view.settings.name())).hash(&mut hasher);
            }
            Self::Status(None) => {}
            Self::Status(Some(returned)) => hash::feed(&returned.0, &mut hasher),
        }
        hasher.finish()
    }

    fn request(&self, parent: &Object, body: Value, view: &View<'_>) -> Request {
        let (id, dry_run) = (ChildId::of(parent), DryRun::No);
        let force =
            if view.settings.config().decorator_options().force { Force::Yes } else { Force::No };
        match self {
            Self::Metadata(_) => Request::Apply { id, body, force, dry_run },
            Self::Status(_) => Request::ApplyStatus { id, body, force },
        }
    }

    fn send(self, parent: Object, attempt: usize, view: &View<'_>) -> Turn<DecorationNext> {
        let Some(write) = self.write(&parent, view) else {
            return self.scale(parent, attempt, view);
        };
        let (wanted, in_status) = (self.hash(&parent, view), self.is_status());
        let known = view.memory.held_decoration(in_status);
        if let Some(known) = known.filter(|it| it.is_about(wanted, &parent, in_status)) {
            return done().note(conflict(known.held.clone(), view));
        }
        if let Some(times) = drift::decoration_delayed(view).filter(|_| !in_status) {
            return done().note(Fact::DecorationDelayed(times));
        }
        let request = self.request(&parent, write.body.clone(), view);
        let applying = Applying { wanted: self, parent, write, attempt };
        Turn::new(Next::Ask(request, Box::new(AwaitedDecoration::Applied(applying))))
    }

    /// Scales the parent, if its number of replicas differs.
    fn scale(self, parent: Object, number: usize, view: &View<'_>) -> Turn<DecorationNext> {
        let due = match &self {
            Self::Metadata(decoration) => decoration.scale(&parent, view.settings.name()),
            Self::Status(_) => None,
        };
        let Some(replicas) = due else { return done() };
        if number > TRIES {
            let why = "others scale it at the same time";
            return done().note(Fact::ParentWaits(why.to_owned()));
        }
        let (id, version) = (ChildId::of(&parent), parent.resource_version().clone());
        let attempt = Try { wanted: self, parent, number };
        let request = Request::Scale { id, version, replicas };
        Turn::new(Next::Ask(request, Box::new(AwaitedDecoration::Scaled(attempt, replicas))))
    }
}

impl Applying {
    fn applied(self, reply: Object, view: &View<'_>) -> Turn<DecorationNext> {
        let in_status = self.wanted.is_status();
        let turn = done().note(Fact::DecorationFree { in_status });
        if reply == self.parent {
            return turn;
        }
        // No watch event follows for a parent that is not ours any more, so this wakes the operator too.
        let cache = if view.settings.answers_for(&reply) {
            Cache::Wrote(reply.clone())
        } else {
            Cache::Saw(reply.clone())
        };
        let (parent, paths) = (ChildId::of(&self.parent), self.write.paths);
        if in_status {
            return turn.cache([cache]).note(Fact::StatusWritten);
        }
        let wanted = self.wanted.hash(&self.parent, view);
        let mut turn = turn.cache([cache]);
        turn.facts.extend(drift::decorated_again(view, wanted, &paths));
        let turn = turn.note(Fact::Decorated(Decorated { parent, paths, wanted }));
        turn.before(self.wanted.scale(reply, self.attempt, view))
    }

    fn refused(self, error: ApiError, view: &View<'_>) -> Turn<DecorationNext> {
        let held = held(&error);
        if !held.is_empty() {
            return self.held(held, view);
        }
        let may_have_changed = matches!(error.class(), ErrorClass::Conflict | ErrorClass::Missing);
        let Self { wanted, parent, attempt: number, .. } = self;
        if !may_have_changed || number >= TRIES {
            return done().note(step_failed(wanted.what(), error));
        }
        Try { wanted, parent, number }.look()
    }

    fn held(self, held: Vec<HeldField>, view: &View<'_>) -> Turn<DecorationNext> {
        let (in_status, wanted) = (self.wanted.is_status(), self.wanted.hash(&self.parent, view));
        let known = HeldDecoration { wanted, left: self.parent, held: held.clone() };
        done()
            .note(conflict(held, view))
            .note(Fact::DecorationHeld { in_status, held: Box::new(known) })
    }
}

impl Try {
    fn look(self) -> Turn<DecorationNext> {
        let request = Request::Read(ChildId::of(&self.parent));
        Turn::new(Next::Ask(request, Box::new(AwaitedDecoration::Looking(self))))
    }

    fn scale_refused(self, error: ApiError) -> Turn<DecorationNext> {
        let may_have_changed = matches!(error.class(), ErrorClass::Conflict | ErrorClass::Missing);
        if may_have_changed && self.number < TRIES {
            return self.look();
        }
        done().note(step_failed("the replicas of the parent", error))
    }

    fn seen(self, live: Object, view: &View<'_>) -> Turn<DecorationNext> {
        let seen = Turn::new(()).cache([Cache::Saw(live.clone())]);
        let has_changed = view.settings.is_leaving(&live) != view.settings.is_leaving(view.parent);
        if has_changed || view.paused_by(&live).is_some() {
            return seen.before(done());
        }
        seen.before(self.wanted.send(live, self.number + 1, view))
    }
}

fn conflict(held: Vec<HeldField>, view: &View<'_>) -> Fact {
    Fact::ParentHeld(ParentConflict { operator: view.settings.name().clone(), held })
}

fn scaled(parent: &Object, replicas: i32) -> Fact {
    Fact::Scaled { parent: ChildId::of(parent), replicas }
}

fn done() -> Turn<DecorationNext> {
    Turn::new(Next::Done(()))
}
