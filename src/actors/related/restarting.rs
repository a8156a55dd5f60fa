//! The restart of a reflector of related objects after a panic: its watches end before others start for all that is
//! asked for, and the operators that read it start again, because a change may not have been reported.

use actix::Context;

use super::RelatedReflector;
#[cfg(feature = "testkit")]
use crate::board::Board;
use crate::{
    actors::{
        messages::ReflectorFell,
        supervised::{Fall, Supervised, Supervision},
    },
    related::Place,
};

impl Supervised for RelatedReflector {
    fn supervision(&mut self) -> &mut Supervision {
        &mut self.supervision
    }

    fn title(&self) -> String {
        format!("the reflector of related {}", self.spec().ty.resource_name())
    }

    #[cfg(feature = "testkit")]
    fn board(&self) -> &Board {
        &self.parts.board
    }

    fn fallen(&mut self, fall: &Fall, _: &mut Context<Self>) {
        let places: Vec<Place> = self.feeds.keys().cloned().collect();
        for place in &places {
            self.end_feed(place);
        }
        self.asked.clear();
        self.fallen = Some(fall.sentence());
        self.report_troubles();
        let notice = ReflectorFell { actor: "related", why: fall.why.as_str().into() };
        self.observers.iter().for_each(|observer| observer.falls.post(notice.clone()));
    }

    fn risen(&mut self, ctx: &mut Context<Self>) {
        self.fallen = None;
        self.parts.source.change_all();
        self.demand_changed(ctx);
    }
}
