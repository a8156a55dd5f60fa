//! The one timer of an actor.
//!
//! Actix polls the timers that are due after it has taken in the messages, and may do so before it
//! drops those that the messages cancelled: one that is not the last that was set says nothing.

use std::time::Duration;

use actix::{Actor, AsyncContext, Context, SpawnHandle};

/// Where the timer of an actor is kept; nothing is to go off while it is empty.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<SpawnHandle>);

impl Timer {
    /// Sets it instead of any other. `of` finds it in its actor.
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

    /// Nothing goes off any more.
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
    enum Order {
        Set,
        Clear,
        Count,
    }

    impl Actor for Alarm {
        type Context = Context<Self>;
    }

    impl Handler<Order> for Alarm {
        type Result = usize;

        fn handle(&mut self, order: Order, ctx: &mut Self::Context) -> usize {
            match order {
                Order::Set => {
                    self.timer.set(AFTER, ctx, |this| &mut this.timer, |this, _| this.fired += 1);
                }
                Order::Clear => self.timer.clear(ctx),
                Order::Count => {}
            }
            self.fired
        }
    }

    /// How often it goes off when it is set, due, and then told this at the same moment.
    fn fired_after(orders: Vec<Order>) -> usize {
        let paused =
            || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        System::with_tokio_rt(paused).block_on(async move {
            let alarm = Alarm::default().start();
            alarm.send(Order::Set).await.unwrap();
            advance(2 * AFTER).await;
            for order in orders {
                alarm.do_send(order);
            }
            for _ in 0..10 {
                yield_now().await;
            }
            alarm.send(Order::Count).await.unwrap()
        })
    }

    #[test]
    fn a_timer_that_is_cleared_when_it_is_due_says_nothing_and_another_is_none_of_its_business() {
        assert_eq!(fired_after(vec![]), 1);
        assert_eq!(fired_after(vec![Order::Clear]), 0);
        assert_eq!(fired_after(vec![Order::Clear, Order::Set]), 0);
        assert_eq!(fired_after(vec![Order::Set]), 0);
    }
}
