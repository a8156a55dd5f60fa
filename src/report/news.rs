//! What is announced of a reconcile: Events about the parent, and what is said once for an operator.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{
    Announced, EventLog, Report, Standing, altered, announced::AnnouncedPause, deletion_guard,
    pause,
};
use crate::{
    history::Verb,
    journal::{Fact, Failure, RequestFailure, Written},
    object::{K8sType, Object, Redactor},
    operator::{OperatorConfig, PAUSED_ANNOTATION, misunderstood_pause},
    reply::EventKind,
};

/// Something to announce about a parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Whether it reports trouble.
    pub kind: EventKind,
    /// One `CamelCase` word.
    pub reason: &'static str,
    /// The sentence.
    pub message: String,
}

/// Who announces: what it has to know beside the facts.
#[derive(Debug)]
pub struct Teller<'a> {
    /// The operator's configuration.
    pub config: &'a OperatorConfig,
    /// The parent as the reconcile saw it.
    pub parent: &'a Object,
    /// What is hidden.
    pub redactor: &'a Redactor,
    /// What the memory says.
    pub standing: Standing<'a>,
    /// Whether the parent is paused by now.
    pub is_paused: bool,
}

impl News {
    fn warning(reason: &'static str, message: String) -> Self {
        Self { kind: EventKind::Warning, reason, message }
    }

    fn normal(reason: &'static str, message: String) -> Self {
        Self { kind: EventKind::Normal, reason, message }
    }

    /// The Event of a failure.
    pub fn of_failure(failure: &Failure) -> Self {
        Self::warning(failure.reason(), format!("{}{failure}", failure.outlook()))
    }
}

impl Announced {
    /// The Events about a parent, to count up those that happen again.
    pub fn log(&mut self, now: std::time::Instant) -> &mut EventLog {
        self.rare_mut().log.get_or_insert_with(|| EventLog::new(now))
    }
}

impl Teller<'_> {
    /// What is news of a reconcile that has ended.
    pub fn news(&self, facts: &[Fact], report: &Report, announced: &mut Announced) -> Vec<News> {
        let mut news: Vec<News> =
            facts.iter().flat_map(|fact| self.of_fact(fact, report, announced)).collect();
        news.extend(self.of_failure(facts, report));
        if self.config.normal_events {
            news.extend(writes(report));
            if facts.iter().any(|fact| matches!(fact, Fact::Began(_))) {
                news.extend(self.altered(announced));
            }
        }
        news.extend(self.pause_value(announced));
        if self.config.normal_events {
            news.extend(self.pause(facts, report, announced));
        }
        news
    }

    fn of_fact(&self, fact: &Fact, report: &Report, announced: &mut Announced) -> Vec<News> {
        match fact {
            Fact::Written(Written { child, verb: Verb::Adopted, .. }) => vec![News::normal(
                "Adopted",
                format!("{child} was there already and had no controller; it is a child now"),
            )],
            Fact::Judged { held: Some((held, _, message)), .. } if held.is_new => {
                vec![News::warning(deletion_guard::CONDITION, message.clone())]
            }
            Fact::Flapping(why, message) => vec![News::warning(why.name(), message.clone())],
            Fact::StatusRefused { shows_conditions, failure } => {
                vec![self.status_refused(*shows_conditions, failure)]
            }
            Fact::WritesEnded { unknown, .. } => {
                let contested = self.contested(announced);
                contested.into_iter().chain(self.unsynced(unknown, report, announced)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Why the reconcile failed. That a handler is overdue was announced while it was.
    fn of_failure(&self, facts: &[Fact], report: &Report) -> Option<News> {
        let is_told = facts.iter().any(|fact| matches!(fact, Fact::StatusBegan));
        let failure = report.failure().filter(|_| is_told)?;
        let is_later = self.redactor.is_passing() && failure.quotes_others();
        let is_announced = matches!(failure, Failure::Overdue(_));
        (!is_later && !is_announced).then(|| News::of_failure(failure))
    }

    /// The Event of the failure says nothing of a status that is refused.
    fn status_refused(&self, shows_conditions: bool, failure: &RequestFailure) -> News {
        let said = failure.shown(self.redactor).said;
        let what = if self.config.shares_status() {
            format!("the status that its handler returns is refused: {said}")
        } else if shows_conditions {
            format!("of its status no more than the conditions is written: {said}")
        } else {
            format!(
                "its status cannot say that it failed: {said}; no field of the status may be required \
                 that a failed reconcile does not set"
            )
        };
        News::warning("StatusRefused", what)
    }

    /// What is left to others, once.
    fn contested(&self, announced: &mut Announced) -> Option<News> {
        let said: Vec<_> =
            self.standing.last_applied.contested().map(ToString::to_string).collect();
        let all = said.join("; ");
        let what = (!all.is_empty()).then(|| number_of(&all));
        let known = announced.rare().and_then(|rare| rare.contested);
        if what != known {
            announced.rare_mut().contested = what;
        }
        (what.is_some() && what != known).then(|| News::warning("Conflict", all))
    }

    /// Deletions that wait because not all of a type is known, as after lists that failed or a restored
    /// backup. Said once: nobody can tell how long that takes. What was said is over when all of that type is
    /// known: a list of earlier may hide for a while what is to go, and that it is back is no news.
    fn unsynced(
        &self,
        unknown: &BTreeSet<K8sType>,
        report: &Report,
        announced: &mut Announced,
    ) -> Option<News> {
        if let Some(rare) = announced.rare() {
            rare.unsynced.retain(|ty| unknown.contains(ty));
        }
        let (first, others) = report.unsynced.split_first()?;
        let is_awaited = |ty: &&K8sType| {
            **ty == *self.parent.ty() || report.unsynced.iter().any(|child| child.ty == **ty)
        };
        let types: BTreeSet<K8sType> = unknown.iter().filter(is_awaited).cloned().collect();
        let rare = announced.rare_mut();
        if types.is_subset(&rare.unsynced) {
            return None;
        }
        let more =
            if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let named: Vec<_> = types.iter().map(ToString::to_string).collect();
        rare.unsynced.extend(types);
        Some(News::warning(
            "DeletionWaits",
            format!(
                "{first}{more}: deletion waits until all objects of {} are known; /readyz says why they \
                 are not",
                named.join(", ")
            ),
        ))
    }

    /// What the server makes of children, once as long as it stays the same. What the parent shows already
    /// was announced by an earlier process: a restart over parents that are up to date announces nothing.
    fn altered(&self, announced: &mut Announced) -> Option<News> {
        let text = altered::texts(self.standing.last_applied).join("; ");
        let what = (!text.is_empty()).then(|| number_of(&text));
        let known = announced.rare().and_then(|rare| rare.altered);
        if what != known {
            announced.rare_mut().altered = what;
        }
        let is_news = what.is_some() && what != known && !altered::is_shown(self.parent, &text);
        is_news.then(|| News::normal("Altered", text))
    }

    /// A value of the annotation that looks as if it paused, and does not: once for each.
    fn pause_value(&self, announced: &mut Announced) -> Option<News> {
        let value = misunderstood_pause(self.parent).map(String::into_boxed_str);
        let known = announced.rare().and_then(|rare| rare.pause_value.clone());
        if value == known {
            return None;
        }
        announced.rare_mut().pause_value.clone_from(&value);
        let value = value?;
        let message = format!(
            "the annotation {PAUSED_ANNOTATION} is {value:?}, which pauses nothing: only \"true\" does, \
             in whatever case"
        );
        Some(News::warning("NotPaused", message))
    }

    /// That a pause has begun to keep something from the parent, or is over: once, also when the
    /// process was another one.
    fn pause(&self, facts: &[Fact], report: &Report, announced: &mut Announced) -> Option<News> {
        let known = announced.pause.unwrap_or_else(|| pause::said(self.parent).into());
        let began = facts.iter().any(|fact| matches!(fact, Fact::BeganPaused(_)));
        let now = match report.paused {
            Some(pause) => AnnouncedPause::By(pause.by),
            None if !began && !self.is_paused => AnnouncedPause::Over,
            None => known,
        };
        announced.pause = Some(now);
        match now {
            _ if now == known => None,
            AnnouncedPause::By(by) => Some(News::normal("Paused", pause::announcement(by))),
            AnnouncedPause::Over => {
                Some(News::normal("Resumed", "it is no longer paused".to_owned()))
            }
        }
    }
}

/// What was written: one Event for all that was created, and so on.
fn writes(report: &Report) -> Vec<News> {
    let verbs =
        [(Verb::Created, "Created"), (Verb::Updated, "Updated"), (Verb::Deleted, "Deleted")];
    let of_verb = |(verb, reason): (Verb, &'static str)| {
        let written = report.writes.iter().filter(|write| write.verb == verb);
        let children: Vec<_> = written.map(|write| write.child.as_str()).collect();
        let message = format!("{} {}", reason.to_lowercase(), children.join(", "));
        (!children.is_empty()).then(|| News::normal(reason, message))
    };
    verbs.into_iter().filter_map(of_verb).collect()
}

/// What is announced once for an operator, whichever parent it happens to.
pub fn once(facts: &[Fact]) -> Vec<News> {
    let of_fact = |fact: &Fact| match fact {
        Fact::Overruled(what) => Some(News::warning("OverruledStatus", (*what).to_owned())),
        _ => None,
    };
    facts.iter().filter_map(of_fact).collect()
}

/// A number for a text, which takes less room.
pub fn number_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
