//! The one timer of an actor.
//!
//! Actix polls due timers after it has processed the messages, and may do so before it drops those that
//! the messages cancelled: only the timer that was set last fires.

use std::time::Duration;

use actix::{Actor, AsyncContext, Context, SpawnHandle};

/// The timer of an actor, if one is set.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<SpawnHandle>);

impl Timer {
    /// Sets the timer instead of any other. `of` returns it from its actor.
    pub(super) fn set<A>(
        &mut self,
        after: Duration,
        ctx: &mut Context<A>,
        of: fn(&mut A) -> &mut Self,
        fired: impl FnOnce(&mut A, &mut Context<A>) + 'static,
    ) where
        A: Actor<Context = Context<A>>,
    {
        self.clear(ctx);
        self.0 = Some(ctx.run_later(after, move |actor, ctx| {
            let timer = of(actor);
            if timer.0 == Some(ctx.handle()) {
                timer.0 = None;
                fired(actor, ctx);
            }
        }));
    }

    pub(super) fn clear<A>(&mut self, ctx: &mut Context<A>)
    where
        A: Actor<Context = Context<A>>,
    {
        if let Some(timer) = self.0.take() {
            ctx.cancel_future(timer);
        }
    }
}

#[cfg(test)]
mod tests {
    use actix::{Handler, Message, System};
    use tokio::{runtime::Builder, task::yield_now, time::advance};

    use super::*;

    const AFTER: Duration = Duration::from_secs(1);

    #[derive(Default)]
    struct Alarm {
        timer: Timer,
        fired: usize,
    }

    #[derive(Message)]
    #[rtype(result = "usize")]
    enum Command {
        Set,
        Clear,
        Count,
    }

    impl Actor for Alarm {
        type Context = Context<Self>;
    }

    impl Handler<Command> for Alarm {
        type Result = usize;

        fn handle(&mut self, command: Command, ctx: &mut Self::Context) -> usize {
            match command {
                Command::Set => {
                    self.timer.set(AFTER, ctx, |this| &mut this.timer, |this, _| this.fired += 1);
                }
                Command::Clear => self.timer.clear(ctx),
                Command::Count => {}
            }
            self.fired
        }
    }

    /// How often the timer fires when these commands arrive at the moment at which it is due.
    fn fired_after(commands: Vec<Command>) -> usize {
        let paused =
            || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        System::with_tokio_rt(paused).block_on(async move {
            let alarm = Alarm::default().start();
            alarm.send(Command::Set).await.unwrap();
            advance(2 * AFTER).await;
            for command in commands {
                alarm.do_send(command);
            }
            for _ in 0..10 {
                yield_now().await;
            }
            alarm.send(Command::Count).await.unwrap()
        })
    }

    #[test]
    fn a_timer_that_is_cleared_or_replaced_when_it_is_due_does_not_fire() {
        assert_eq!(fired_after(vec![]), 1);
        assert_eq!(fired_after(vec![Command::Clear]), 0);
        assert_eq!(fired_after(vec![Command::Clear, Command::Set]), 0);
        assert_eq!(fired_after(vec![Command::Set]), 0);
    }
}
