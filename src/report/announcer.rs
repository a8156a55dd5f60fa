//! The Events of a reconcile about its parent, and the warnings that are sent once per operator.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{
    Announced, EventLog, MemoryView, Report, altered, announced::AnnouncedPause, deletion_guard,
    pause,
};
use crate::{
    history::Verb,
    journal::{Fact, Failure, RequestFailure, Written},
    object::{K8sType, Object, Redactor},
    operator::{OperatorConfig, PAUSED_ANNOTATION, misunderstood_pause},
    reply::EventKind,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) kind: EventKind,
    /// One `CamelCase` word.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

#[derive(Debug)]
pub(crate) struct Announcer<'a> {
    pub(crate) config: &'a OperatorConfig,
    /// The parent as the reconcile saw it.
    pub(crate) parent: &'a Object,
    pub(crate) redactor: &'a Redactor,
    pub(crate) memory: MemoryView<'a>,
    pub(crate) is_paused: bool,
}

impl Announcement {
    fn warning(reason: &'static str, message: String) -> Self {
        Self { kind: EventKind::Warning, reason, message }
    }

    fn normal(reason: &'static str, message: String) -> Self {
        Self { kind: EventKind::Normal, reason, message }
    }

    pub(crate) fn of_failure(failure: &Failure) -> Self {
        Self::warning(failure.reason(), format!("{}{failure}", failure.outlook()))
    }
}

impl Announced {
    pub(crate) fn log(&mut self, now: std::time::Instant) -> &mut EventLog {
        self.rare_mut().log.get_or_insert_with(|| EventLog::new(now))
    }
}

impl Announcer<'_> {
    pub(crate) fn announcements(
        &self,
        facts: &[Fact],
        report: &Report,
        announced: &mut Announced,
    ) -> Vec<Announcement> {
        let mut announcements: Vec<Announcement> =
            facts.iter().flat_map(|fact| self.of_fact(fact, report, announced)).collect();
        announcements.extend(self.of_failure(facts, report));
        if self.config.normal_events {
            announcements.extend(writes(report));
            if facts.iter().any(|fact| matches!(fact, Fact::Began(_))) {
                announcements.extend(self.altered(announced));
            }
        }
        announcements.extend(self.pause_value(announced));
        if self.config.normal_events {
            announcements.extend(self.pause(facts, report, announced));
        }
        announcements
    }

    fn of_fact(
        &self,
        fact: &Fact,
        report: &Report,
        announced: &mut Announced,
    ) -> Vec<Announcement> {
        match fact {
            Fact::Written(Written { child, verb: Verb::Adopted, .. }) => {
                vec![Announcement::normal(
                    "Adopted",
                    format!("adopted {child}: it already existed and had no controller"),
                )]
            }
            Fact::Judged { held: Some((held, _, message)), .. } if held.is_new => {
                vec![Announcement::warning(deletion_guard::CONDITION, message.clone())]
            }
            Fact::Flapping(why, message) => {
                vec![Announcement::warning(why.name(), message.clone())]
            }
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

    fn of_failure(&self, facts: &[Fact], report: &Report) -> Option<Announcement> {
        let is_due = facts.iter().any(|fact| matches!(fact, Fact::StatusBegan));
        let failure = report.failure().filter(|_| is_due)?;
        let is_later = self.redactor.is_passing() && failure.quotes_others();
        let is_announced = matches!(failure, Failure::HandlerTimeout(_));
        (!is_later && !is_announced).then(|| Announcement::of_failure(failure))
    }

    fn status_refused(&self, shows_conditions: bool, failure: &RequestFailure) -> Announcement {
        let error = failure.shown(self.redactor).message;
        let what = if self.config.shares_status() {
            format!("the API server refused the status that the handler returned: {error}")
        } else if shows_conditions {
            format!(
                "the API server refused the status, so only the conditions were written: {error}"
            )
        } else {
            format!(
                "the API server refused the status of a failed reconcile: {error}; make the status \
                 fields optional in the CRD"
            )
        };
        Announcement::warning("StatusRefused", what)
    }

    /// The Event about fields that others hold, once per change.
    fn contested(&self, announced: &mut Announced) -> Option<Announcement> {
        let contested: Vec<_> =
            self.memory.last_applied.contested().map(ToString::to_string).collect();
        let all = contested.join("; ");
        let what = (!all.is_empty()).then(|| number_of(&all));
        let known = announced.rare().and_then(|rare| rare.contested);
        if what != known {
            announced.rare_mut().contested = what;
        }
        (what.is_some() && what != known).then(|| Announcement::warning("Conflict", all))
    }

    /// The Event about deletions that wait because a type is not listed, as after failed lists or a restored
    /// backup. Sent once per type until that type is listed again: an outdated list may hide the children
    /// meanwhile.
    fn unsynced(
        &self,
        unknown: &BTreeSet<K8sType>,
        report: &Report,
        announced: &mut Announced,
    ) -> Option<Announcement> {
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
        Some(Announcement::warning(
            "DeletionWaits",
            format!(
                "{first}{more}: deletion waits until all objects of {} are listed; /readyz shows why \
                 they are not",
                named.join(", ")
            ),
        ))
    }

    /// The Event about altered children, once per change. Not if the parent already shows it: a restart over
    /// parents that are up to date announces nothing.
    fn altered(&self, announced: &mut Announced) -> Option<Announcement> {
        let text = altered::texts(self.memory.last_applied).join("; ");
        let what = (!text.is_empty()).then(|| number_of(&text));
        let known = announced.rare().and_then(|rare| rare.altered);
        if what != known {
            announced.rare_mut().altered = what;
        }
        let is_news = what.is_some() && what != known && !altered::is_shown(self.parent, &text);
        is_news.then(|| Announcement::normal("Altered", text))
    }

    /// The Event about a pause annotation without effect, once per value.
    fn pause_value(&self, announced: &mut Announced) -> Option<Announcement> {
        let value = misunderstood_pause(self.parent).map(String::into_boxed_str);
        let known = announced.rare().and_then(|rare| rare.pause_value.clone());
        if value == known {
            return None;
        }
        announced.rare_mut().pause_value.clone_from(&value);
        let value = value?;
        let message = format!(
            "the annotation {PAUSED_ANNOTATION} is {value:?}, which does not pause the parent: set \
             it to \"true\""
        );
        Some(Announcement::warning("NotPaused", message))
    }

    /// The Events about the begin and the end of a pause, once each, also after a restart.
    fn pause(
        &self,
        facts: &[Fact],
        report: &Report,
        announced: &mut Announced,
    ) -> Option<Announcement> {
        let known = announced.pause.unwrap_or_else(|| pause::shown_by(self.parent).into());
        let began = facts.iter().any(|fact| matches!(fact, Fact::BeganPaused(_)));
        let now = match report.paused {
            Some(pause) => AnnouncedPause::By(pause.by),
            None if !began && !self.is_paused => AnnouncedPause::Over,
            None => known,
        };
        announced.pause = Some(now);
        match now {
            _ if now == known => None,
            AnnouncedPause::By(by) => Some(Announcement::normal("Paused", pause::announcement(by))),
            AnnouncedPause::Over => {
                Some(Announcement::normal("Resumed", "it is no longer paused".to_owned()))
            }
        }
    }
}

fn writes(report: &Report) -> Vec<Announcement> {
    let verbs =
        [(Verb::Created, "Created"), (Verb::Updated, "Updated"), (Verb::Deleted, "Deleted")];
    let of_verb = |(verb, reason): (Verb, &'static str)| {
        let written = report.writes.iter().filter(|write| write.verb == verb);
        let children: Vec<_> = written.map(|write| write.child.as_str()).collect();
        let message = format!("{} {}", reason.to_lowercase(), children.join(", "));
        (!children.is_empty()).then(|| Announcement::normal(reason, message))
    };
    verbs.into_iter().filter_map(of_verb).collect()
}

pub(crate) fn once_per_operator(facts: &[Fact]) -> Vec<Announcement> {
    let of_fact = |fact: &Fact| match fact {
        Fact::Overruled(what) => Some(Announcement::warning("OverruledStatus", (*what).to_owned())),
        _ => None,
    };
    facts.iter().filter_map(of_fact).collect()
}

pub(crate) fn number_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
