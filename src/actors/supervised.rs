//! Restarts an actor in place after a panic: it keeps its address, its mailbox and its place among the others, ends what
//! it runs and begins again as at the start.
//!
//! ```text
//!     a message or a timer panics
//! up -----------------------------> down --after the delay of `Restarts`--> up
//!                                   `panicked`                                `restarted`
//! ```
//!
//! While an actor is down, it receives only messages with [`Receive::ALWAYS`]: its heartbeat, and facts that stay true
//! after the restart. A panic of `panicked` ends the actor, and then the process is not alive.

use std::{
    any::Any,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use actix::{Actor, AsyncContext, Context};

use super::mailbox::{Metered, Receive};
#[cfg(feature = "testkit")]
use crate::board::Board;
use crate::{
    execute::now,
    schedule::{Restart, Restarts},
};

/// What an actor needs to be restarted.
#[derive(Debug, Default)]
pub(super) struct Supervision {
    restarts: Restarts,
    pub(super) is_down: bool,
}

/// A panic of an actor, and what is next.
#[derive(Debug)]
pub(crate) struct ActorPanic {
    /// What panicked, as a sentence without its full stop.
    pub(super) why: String,
    next: Restart,
}

pub(super) trait Supervised: Actor<Context = Context<Self>> {
    fn supervision(&mut self) -> &mut Supervision;

    /// What it is, such as `the reflector of pods`.
    fn title(&self) -> String;

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board;

    /// Ends what it runs. Its own state may be inconsistent.
    fn panicked(&mut self, panic: &ActorPanic, ctx: &mut Context<Self>);

    /// Begins again.
    fn restarted(&mut self, ctx: &mut Context<Self>);
}

impl ActorPanic {
    /// Why it is down, and until when.
    pub(super) fn sentence(&self) -> String {
        let Self { why, next } = self;
        let seconds = next.delay().as_secs();
        match next {
            Restart::After(_) => format!("{why}: it is restarted in {seconds} s"),
            Restart::GiveUp { panics, again_in: _ } => format!(
                "{why}, {panics} times in a row: it is stopped, and tried again in {} min. This is a bug in Operetta: \
                 the output of the program has the panics",
                seconds / 60
            ),
        }
    }
}

pub(super) fn receive<A, M>(actor: &mut A, metered: Metered<M>, ctx: &mut Context<A>)
where
    A: Supervised + Receive<M>,
    M: Send + 'static,
{
    let (message, _work) = metered.received();
    if <A as Receive<M>>::ALWAYS || !actor.supervision().is_down {
        guarded(actor, ctx, |actor, ctx| actor.receive(message, ctx));
    }
}

/// Does something on the task of an actor, which is restarted if that panics.
pub(super) fn guarded<A: Supervised>(
    actor: &mut A,
    ctx: &mut Context<A>,
    act: impl FnOnce(&mut A, &mut Context<A>),
) {
    let acting = || {
        #[cfg(feature = "testkit")]
        panic_if_asked(actor);
        act(actor, ctx);
    };
    let Err(panic) = catch_unwind(AssertUnwindSafe(acting)) else { return };
    let why = format!("{} panicked{}", actor.title(), literal(&*panic));
    if mem::replace(&mut actor.supervision().is_down, true) {
        tracing::error!(why, "a panic while a restart is due; this is a bug in Operetta");
        return;
    }
    let next = actor.supervision().restarts.panicked(now().monotonic);
    tracing::error!(why, restart_in = ?next.delay(), "an actor is restarted; this is a bug in Operetta");
    actor.panicked(&ActorPanic { why, next }, ctx);
    if next.delay().is_zero() {
        restart(actor, ctx);
    } else {
        ctx.run_later(next.delay(), restart);
    }
}

fn restart<A: Supervised>(actor: &mut A, ctx: &mut Context<A>) {
    actor.supervision().is_down = false;
    guarded(actor, ctx, A::restarted);
}

/// The text of a panic, if it is a literal: any other may quote an object.
fn literal(panic: &(dyn Any + Send)) -> String {
    panic.downcast_ref::<&'static str>().map(|text| format!(" ({text})")).unwrap_or_default()
}

#[cfg(feature = "testkit")]
fn panic_if_asked<A: Supervised>(actor: &A) {
    assert!(!actor.board().takes_panic(|| actor.title()), "as the test asks for");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actix::{Addr, Handler, System};
    use tokio::runtime::Builder;

    use super::*;
    use crate::metrics::Metrics;

    /// Counts what it does.
    #[derive(Default)]
    struct Fragile {
        supervision: Supervision,
        received: u32,
        restarted: u32,
        reasons: Vec<String>,
    }

    struct Count;
    struct Break;
    struct Look;

    impl Actor for Fragile {
        type Context = Context<Self>;
    }

    impl Supervised for Fragile {
        fn supervision(&mut self) -> &mut Supervision {
            &mut self.supervision
        }

        fn title(&self) -> String {
            "the glass".to_owned()
        }

        #[cfg(feature = "testkit")]
        fn board(&self) -> &Board {
            static BOARD: std::sync::LazyLock<Board> = std::sync::LazyLock::new(Board::default);
            &BOARD
        }

        fn panicked(&mut self, panic: &ActorPanic, _: &mut Context<Self>) {
            self.reasons.push(panic.sentence());
        }

        fn restarted(&mut self, _: &mut Context<Self>) {
            self.restarted += 1;
        }
    }

    impl<M: Send + 'static> Handler<Metered<M>> for Fragile
    where
        Self: Receive<M>,
    {
        type Result = ();

        fn handle(&mut self, metered: Metered<M>, ctx: &mut Self::Context) {
            receive(self, metered, ctx);
        }
    }

    impl Receive<Count> for Fragile {
        fn receive(&mut self, _: Count, _: &mut Self::Context) {
            self.received += 1;
        }
    }

    impl Receive<Break> for Fragile {
        fn receive(&mut self, _: Break, _: &mut Self::Context) {
            panic!("as the test asks for");
        }
    }

    impl Receive<Look> for Fragile {
        const ALWAYS: bool = true;

        fn receive(&mut self, _: Look, _: &mut Self::Context) {
            self.received += 100;
        }
    }

    async fn send<M: Send + 'static>(to: &Addr<Fragile>, message: M)
    where
        Fragile: Receive<M>,
    {
        let depth = Metrics::new().mailbox("operator", "a");
        to.send(Metered::new(message, &depth)).await.unwrap();
    }

    /// What it was after these steps, as received, restarted and the last reason.
    fn after(steps: impl AsyncFnOnce(&Addr<Fragile>)) -> (u32, u32, String) {
        let paused =
            || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        System::with_tokio_rt(paused).block_on(async {
            let (give, given) = tokio::sync::oneshot::channel();
            let fragile = Fragile::default().start();
            steps(&fragile).await;
            fragile.do_send(Read(give));
            given.await.unwrap()
        })
    }

    struct Read(tokio::sync::oneshot::Sender<(u32, u32, String)>);

    impl actix::Message for Read {
        type Result = ();
    }

    impl Handler<Read> for Fragile {
        type Result = ();

        fn handle(&mut self, Read(give): Read, _: &mut Self::Context) {
            let reason = self.reasons.last().cloned().unwrap_or_default();
            give.send((self.received, self.restarted, reason)).unwrap();
        }
    }

    #[test]
    fn an_actor_that_panics_is_restarted_at_once_and_later_with_delays() {
        let (received, restarted, _) = after(async |fragile| {
            send(fragile, Break).await;
            send(fragile, Count).await;
        });
        assert_eq!((received, restarted), (1, 1));
        let (received, restarted, reason) = after(async |fragile| {
            send(fragile, Break).await;
            send(fragile, Break).await;
            // It is down: only the second is received.
            send(fragile, Count).await;
            send(fragile, Look).await;
        });
        assert_eq!((received, restarted), (100, 1));
        let expected = "the glass panicked (as the test asks for): it is restarted in 1 s";
        assert_eq!(reason, expected);
        let (received, restarted, _) = after(async |fragile| {
            send(fragile, Break).await;
            send(fragile, Break).await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            send(fragile, Count).await;
        });
        assert_eq!((received, restarted), (1, 2));
    }

    #[test]
    fn after_too_many_panics_it_is_stopped_for_a_while() {
        let often = async |fragile: &Addr<Fragile>| {
            for _ in 0..6 {
                send(fragile, Break).await;
                tokio::time::sleep(Duration::from_secs(20)).await;
            }
        };
        let (_, restarted, reason) = after(often);
        assert_eq!(restarted, 5);
        assert!(reason.contains("6 times in a row: it is stopped, and tried again in 5 min"));
        let (received, restarted, _) = after(async |fragile| {
            often(fragile).await;
            tokio::time::sleep(Duration::from_mins(5)).await;
            send(fragile, Count).await;
        });
        assert_eq!((received, restarted), (1, 6));
    }
}
