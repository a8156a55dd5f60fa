//! The Events of a reconcile about its parent, and the warnings that are sent once per operator.

use std::collections::BTreeSet;

use super::{
    Announced, Announcement, MemoryView, News, Report, altered, announced::AnnouncedPause,
    conditions::BLOCKED, deletions_held, number_of, pause,
};
use crate::{
    history::{Problem, Verb},
    journal::{Failure, RequestFailure},
    object::{K8sType, Object, Redactor},
    operator::{OperatorConfig, misunderstood_pause},
};

#[derive(Debug)]
pub(crate) struct Announcer<'a> {
    pub(crate) config: &'a OperatorConfig,
    /// The parent as the reconcile saw it.
    pub(crate) parent: &'a Object,
    pub(crate) redactor: &'a Redactor,
    pub(crate) memory: MemoryView<'a>,
    pub(crate) is_paused: bool,
}

impl Announcer<'_> {
    pub(crate) fn announcements(
        &self,
        report: &Report,
        announced: &mut Announced,
    ) -> Vec<Announcement> {
        let of_news = |news| self.of_news(news, report, announced);
        let mut announcements: Vec<_> = report.news.iter().flat_map(of_news).collect();
        announcements.extend(self.of_failure(report));
        announcements.extend(blocked(report, announced));
        if self.config.normal_events {
            announcements.extend(writes(report));
            if report.has_begun {
                announcements.extend(self.altered(announced));
            }
        }
        announcements.extend(self.pause_value(announced));
        if self.config.normal_events {
            announcements.extend(self.pause(report, announced));
        }
        let has_failed = report.failure().is_some();
        announcements.extend(report.returned.announcements(has_failed, announced));
        announcements
    }

    fn of_news(
        &self,
        news: &News,
        report: &Report,
        announced: &mut Announced,
    ) -> Vec<Announcement> {
        vec![match news {
            News::Adopted(child) => Announcement::normal(
                "Adopted",
                format!("adopted {child}: it already existed and had no controller"),
            ),
            News::DeletionsHeld(message) => {
                Announcement::warning(deletions_held::CONDITION, message.clone())
            }
            News::Flapping(why, message) => Announcement::warning(why.name(), message.clone()),
            News::StatusRefused { shows_conditions, failure } => {
                self.status_refused(*shows_conditions, failure)
            }
            News::WritesEnded { unknown } => {
                let contested = self.contested(announced);
                let unsynced = self.unsynced(unknown, report, announced);
                return contested.into_iter().chain(unsynced).collect();
            }
        }]
    }

    fn of_failure(&self, report: &Report) -> Option<Announcement> {
        let failure = report.failure().filter(|_| report.has_begun_status)?;
        let is_later = self.redactor.is_passing() && failure.quotes_others();
        let is_announced = matches!(failure, Failure::HandlerTimeout { hangs: true, .. });
        (!is_later && !is_announced).then(|| Announcement::of_failure(failure, &report.problems))
    }

    fn status_refused(&self, shows_conditions: bool, failure: &RequestFailure) -> Announcement {
        let error = &failure.message;
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
        let unsynced = report.waits.unsynced();
        let (first, others) = unsynced.split_first()?;
        let is_awaited = |ty: &&K8sType| {
            **ty == *self.parent.ty() || unsynced.iter().any(|child| child.ty == **ty)
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

    /// The Event about a pause annotation that is not understood, once per value.
    fn pause_value(&self, announced: &mut Announced) -> Option<Announcement> {
        let value = misunderstood_pause(self.parent);
        let known = announced.rare().and_then(|rare| rare.pause_value.clone());
        if value == known {
            return None;
        }
        announced.rare_mut().pause_value.clone_from(&value);
        let value = value?;
        let (reason, message) = pause::warning(&value);
        Some(Announcement::warning(reason, message))
    }

    /// The Events about the begin and the end of a pause, once each, also after a restart.
    fn pause(&self, report: &Report, announced: &mut Announced) -> Option<Announcement> {
        let known = announced.pause.unwrap_or_else(|| pause::shown_by(self.parent).into());
        let now = match report.paused {
            Some(pause) => AnnouncedPause::By(pause.by),
            None if !report.began_paused && !self.is_paused => AnnouncedPause::Over,
            None => known,
        };
        announced.pause = Some(now);
        match now {
            _ if now == known => None,
            AnnouncedPause::By(by) => {
                Some(Announcement::normal("Paused", pause::announcement(by, report)))
            }
            AnnouncedPause::Over => {
                Some(Announcement::normal("Resumed", "it is no longer paused".to_owned()))
            }
        }
    }
}

/// The Event about children that finalizers of others keep, once per change.
fn blocked(report: &Report, announced: &mut Announced) -> Option<Announcement> {
    let all = report.waits.texts_of(&report.blocked).join("; ");
    let what = (!all.is_empty()).then(|| number_of(&all));
    let known = announced.rare().and_then(|rare| rare.blocked);
    if what != known {
        announced.rare_mut().blocked = what;
    }
    let order = Problem::order(&report.problems);
    let is_news = what.is_some() && what != known;
    is_news.then(|| Announcement::warning(BLOCKED, format!("{all}{order}")))
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

/// The Events that are sent once per operator.
pub(crate) fn once_per_operator(report: &Report) -> impl Iterator<Item = Announcement> {
    let of = |what: &&str| Announcement::warning("OverruledStatus", (*what).to_owned());
    report.overruled.iter().map(of)
}
