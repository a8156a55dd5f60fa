//! Repeated writes for one parent, and how they are reported. A few counters for recent repeated
//! writes; none for a parent without any. Reads no clock.
//!
//! *Flapping* is the same field of the same child written three times, each at most twice the
//! longest backoff after the one before. It ends as [`Calm`] defines.

mod calm;
mod counters;
mod subject;

use std::time::{Duration, Instant};

use self::counters::{Counters, Field, LIMIT, MAX_SUBJECTS, make_room};
use crate::operator::Condition;

pub(crate) use calm::Calm;
pub(crate) use subject::{FlappingReason, Subject};

/// The repeated writes for one parent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flapping(Vec<Counters>);

/// What is flapping, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlappingSummary {
    /// The first of its reasons.
    pub(crate) why: FlappingReason,
    /// The written fields, their object and the other writer; of many subjects the first few.
    pub(crate) message: String,
}

/// How many subjects a summary names.
const MAX_NAMED: usize = 3;

impl Flapping {
    pub(crate) const CONDITION: &'static str = "Flapping";

    /// Counts a repeated write of these fields. Returns how many writes are above the limit; 0 as
    /// long as none is.
    pub(crate) fn again(
        &mut self,
        subject: &Subject,
        why: FlappingReason,
        paths: &[String],
        now: Instant,
    ) -> u32 {
        let Some(counters) = self.entry(subject, why, now) else { return 0 };
        let whole = [String::new()];
        for path in if paths.is_empty() { &whole } else { paths } {
            counters.count(path, now);
        }
        let is_touched = |field: &&Field| field.last == now;
        let times = counters.fields.iter().filter(is_touched).map(|field| field.times).max();
        times.unwrap_or_default().saturating_sub(LIMIT - 1)
    }

    /// Whether the next write reaches the limit, so that it is time to look for another writer.
    pub(crate) fn is_about_to_begin(&self, subject: &Subject, why: FlappingReason) -> bool {
        self.find(subject, why).is_some_and(|counters| {
            !counters.is_flapping() && counters.fields.iter().any(|field| field.times + 1 == LIMIT)
        })
    }

    /// How many writes are above the limit, if the last one is more recent than `rest` allows.
    pub(crate) fn rests(
        &self,
        (subject, why): (&Subject, FlappingReason),
        now: Instant,
        rest: impl Fn(u32) -> Duration,
    ) -> Option<u32> {
        let field = self.find(subject, why)?.flapping().max_by_key(|field| field.times)?;
        let times = field.times - (LIMIT - 1);
        (now.saturating_duration_since(field.last) < rest(times)).then_some(times)
    }

    /// Records the other writer.
    pub(crate) fn blame(&mut self, subject: &Subject, why: FlappingReason, rival: Option<String>) {
        let is_it = |it: &&mut Counters| it.subject == *subject && it.why == why;
        if let Some(counters) = self.0.iter_mut().find(is_it) {
            counters.rival = rival;
        }
    }

    /// Forgets the fields whose last write no longer counts.
    pub(crate) fn forget_before(&mut self, now: Instant, calm: Calm) {
        for counters in &mut self.0 {
            counters.forget_before(now, calm);
        }
        self.0.retain(|counters| !counters.fields.is_empty());
    }

    /// Forgets all children, because none is written any more.
    pub(crate) fn forget_children(&mut self) {
        let is_of_child =
            |it: &Counters| matches!(it.subject, Subject::Child(_) | Subject::Children(_));
        self.0.retain(|counters| !is_of_child(counters));
    }

    /// How long until the flapping ends if nothing is written again; `None` when nothing is
    /// flapping.
    pub(crate) fn calms_in(&self, now: Instant, calm: Calm) -> Option<Duration> {
        let fields = self.0.iter().flat_map(Counters::flapping);
        fields.map(|field| field.calms_in(now, calm)).max()
    }

    pub(crate) fn condition(&self) -> Option<Condition> {
        let messages: Vec<_> = self.flapping().map(Counters::message).collect();
        Some(Condition::new(Self::CONDITION, true, self.why()?.name(), messages.join("; ")))
    }

    /// A shorter text for the dashboard; `None` when nothing is flapping.
    pub(crate) fn flapping_summary(&self) -> Option<FlappingSummary> {
        let why = self.why()?;
        let mut named: Vec<_> = self.flapping().take(MAX_NAMED).map(Counters::message).collect();
        let more = self.flapping().count() - named.len();
        named.extend((more > 0).then(|| format!("and {more} more")));
        Some(FlappingSummary { why, message: named.join("; ") })
    }

    /// What began to flap and was not announced yet: reasons and messages.
    pub(crate) fn news(&self) -> Vec<(FlappingReason, String)> {
        let news = self.flapping().filter(|counters| !counters.is_announced);
        news.map(|counters| (counters.why, counters.message())).collect()
    }

    pub(crate) fn announced(&mut self) {
        for counters in &mut self.0 {
            counters.is_announced |= counters.is_flapping();
        }
    }

    fn flapping(&self) -> impl Iterator<Item = &Counters> {
        self.0.iter().filter(|counters| counters.is_flapping())
    }

    fn why(&self) -> Option<FlappingReason> {
        self.flapping().map(|counters| counters.why).min()
    }

    fn find(&self, subject: &Subject, why: FlappingReason) -> Option<&Counters> {
        self.0.iter().find(|it| it.subject == *subject && it.why == why)
    }

    fn entry(
        &mut self,
        subject: &Subject,
        why: FlappingReason,
        now: Instant,
    ) -> Option<&mut Counters> {
        let known = self.0.iter().position(|it| it.subject == *subject && it.why == why);
        let at = if let Some(at) = known {
            at
        } else {
            make_room(&mut self.0, MAX_SUBJECTS, now)?;
            self.0.push(Counters::new(subject.clone(), why));
            self.0.len() - 1
        };
        self.0.get_mut(at)
    }
}

#[cfg(test)]
mod tests;
